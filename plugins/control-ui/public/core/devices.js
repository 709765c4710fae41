import { request } from "./conn.js";
import { kept } from "./env.js";
import { createReading } from "./reading.js";

/** Devices that wait and that are paired, and who is connected now. */

/** @typedef {import("./device-facts.js").Devices} Devices */
/** @typedef {import("./device-facts.js").Presence} Presence */

export const devices = createReading(() => /** @type {Promise<Devices>} */ (request("device.pair.list")));
export const presence = createReading(() => /** @type {Promise<Presence[]>} */ (request("system-presence")));

/** Is this row the one of this very page? @param {Presence} client */
export function isThisPage({ instanceId }) {
  return instanceId !== undefined && instanceId === kept.get("instance");
}

/** Is a device here? The list of devices may be older than that of connections. @param {import("./device-facts.js").PairedDevice} device */
export function isHere({ deviceId, connected }) {
  return presence.answer.value?.some((client) => client.deviceId === deviceId) ?? connected;
}

/** Device of this browser, as far as the gateway knows one. */
export function ownDeviceId() {
  return presence.answer.value?.find(isThisPage)?.deviceId;
}

/** @param {"approve" | "reject"} word @param {string} requestId */
export async function decide(word, requestId) {
  await request(`device.pair.${word}`, { requestId });
  await devices.read();
}

/** @param {string} deviceId @param {string} label */
export async function renameDevice(deviceId, label) {
  await request("device.pair.rename", { deviceId, label });
  await devices.read();
}

/** Ends its tokens: it has to sign in with the gateway's secret again. @param {import("./device-facts.js").PairedDevice} device */
export async function signOutDevice({ deviceId, tokens }) {
  for (const { role, revokedAtMs } of tokens) {
    if (revokedAtMs === undefined) await request("device.token.revoke", { deviceId, role });
  }
  await devices.read();
}

/** @param {string} deviceId */
export async function removeDevice(deviceId) {
  await request("device.pair.remove", { deviceId });
  await devices.read();
}
