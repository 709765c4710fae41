import { texts } from "../texts/parts.js";
import { age, count, list, plural } from "./format.js";

/**
 * Facts shown about devices and who is connected. Pure.
 *
 * @typedef {{ requestId: string, deviceId: string, displayName?: string, platform?: string, deviceFamily?: string, clientId: string, clientMode: string,
 *   role: string, scopes: string[], remoteIp?: string, isRepair: boolean, ts: number }} PendingDevice
 * @typedef {{ deviceId: string, displayName?: string, label?: string, platform?: string, deviceFamily?: string, clientId?: string, clientMode?: string,
 *   scopes?: string[], approvedVia: "silent" | "owner", approvedAtMs: number, lastSeenAtMs?: number, connected: boolean,
 *   tokens: Array<{ role: string, scopes: string[], createdAtMs: number, revokedAtMs?: number }> }} PairedDevice
 * @typedef {{ pending: PendingDevice[], paired: PairedDevice[] }} Devices
 * @typedef {{ ts: number, host?: string, ip?: string, version?: string, platform?: string, deviceFamily?: string, mode?: string, clientId?: string,
 *   deviceId?: string, instanceId?: string, reason?: string, scopes?: string[] }} Presence
 */

const SHORT_ID = 8;

/** Name of a device: the one that a person gave it, else what it says of itself. @param {PendingDevice | PairedDevice} device */
export function nameOf(device) {
  const given = "label" in device ? device.label : undefined;
  return given ?? device.displayName ?? device.clientId ?? shortId(device.deviceId);
}

/** Beginning of an id, which tells two devices of the same name apart. @param {string} id */
export function shortId(id) {
  return id.slice(0, SHORT_ID);
}

/** Short facts of a device that waits, in the order shown. @param {PendingDevice} device @param {number} now */
export function pendingFacts({ platform, deviceFamily, remoteIp, ts, isRepair, deviceId }, now) {
  return present([
    deviceFamily ?? platform,
    remoteIp === undefined ? undefined : texts.from(remoteIp),
    texts.asked(age(ts, now)),
    isRepair ? texts.pairedBefore : undefined,
    texts.id(shortId(deviceId)),
  ]);
}

/** Short facts of a paired device, in the order shown. @param {PairedDevice} device @param {number} now */
export function pairedFacts(device, now) {
  const { label, displayName, platform, deviceFamily, lastSeenAtMs, connected, approvedVia, approvedAtMs, deviceId } = device;
  return present([
    label === undefined ? undefined : displayName,
    deviceFamily ?? platform,
    connected || lastSeenAtMs === undefined ? undefined : texts.lastSeen(age(lastSeenAtMs, now)),
    (approvedVia === "silent" ? texts.pairedByMachine : texts.approved)(age(approvedAtMs, now)),
    texts.id(shortId(deviceId)),
  ]);
}

/** A word and a colour for a paired device. @param {PairedDevice} device @returns {{ word: string, level: "ok" | "warn" | "" }} */
export function stateOf({ connected, tokens }) {
  if (connected) return { word: texts.connected, level: "ok" };
  return hasToken({ tokens }) ? { word: texts.away, level: "" } : { word: texts.signedOut, level: "warn" };
}

/** Can it come back without the gateway's secret? @param {Pick<PairedDevice, "tokens">} device */
export function hasToken({ tokens }) {
  return tokens.some(({ revokedAtMs }) => revokedAtMs === undefined);
}

/** Describes what somebody may do, or asks to do. @param {readonly string[] | undefined} scopes */
export function scopeWords(scopes = []) {
  if (scopes.includes("operator.admin")) return texts.everything;
  const words = scopes.map((scope) => scope.replace("operator.", ""));
  return words.length === 0 ? texts.nothing : list(words);
}

/** Paired devices in the order shown: connected ones, then the one seen last. @param {PairedDevice[]} paired */
export function inOrder(paired) {
  return [...paired].sort((a, b) => Number(b.connected) - Number(a.connected) || (b.lastSeenAtMs ?? 0) - (a.lastSeenAtMs ?? 0));
}

/** Sentence with the numbers of devices. @param {Devices} devices */
export function sentenceOf({ pending, paired }) {
  const here = paired.filter(({ connected }) => connected).length;
  const known =
    paired.length === 0 ? texts.noDevicePaired : texts.pairedConnected({ paired: plural(paired.length, texts.devices), here: count(here) });
  return pending.length === 0 ? `${known}.` : plural(pending.length, texts.devicesWait(known));
}

/** Clients that are connected; the gateway's own row is none. @param {Presence[]} presence */
export function clientsIn(presence) {
  return presence.filter(({ reason }) => reason !== "self");
}

/** Name of a client that is connected. @param {Presence} client */
export function clientName({ host, clientId, deviceFamily }) {
  return host ?? clientId ?? deviceFamily ?? texts.clientWithoutName;
}

/** Short facts of a client that is connected. @param {Presence} client */
export function clientFacts({ mode, platform, version, ip, host, clientId }) {
  return present([
    host === undefined ? undefined : clientId,
    mode,
    platform,
    version && texts.version(version),
    ip === undefined ? texts.machine : texts.fromAddress(ip),
  ]);
}

/** Can others open the address of this page? @param {{ protocol: string, hostname: string }} address @returns {"yes" | "here-only" | "plain"} */
export function reachOf({ protocol, hostname }) {
  if (hostname === "localhost" || hostname.startsWith("127.") || hostname === "[::1]") return "here-only";
  return protocol === "https:" ? "yes" : "plain";
}

/** @param {Array<string | undefined>} facts @returns {string[]} */
function present(facts) {
  return /** @type {string[]} */ (facts.filter((fact) => fact !== undefined && fact !== ""));
}
