import { signal } from "@preact/signals";
import { texts } from "../texts/devices.js";
import { request } from "./conn.js";
import { nameOf } from "./device-facts.js";
import { devices } from "./devices.js";
import { hello } from "./store.js";

/**
 * The code that signs one phone in. Its token is in this module and in the drawing, and nowhere else.
 *
 * @typedef {{ requestId: string, token: string, expiresAtMs: number, connId: string | undefined }} Invitation `connId`: the connection with which it ends
 * @typedef {{ level: "ok" | "warn", text: string }} Outcome
 */

/** Shown now. */
export const invitation = signal(/** @type {Invitation | undefined} */ (undefined));
/** End of the last one. */
export const outcome = signal(/** @type {Outcome | undefined} */ (undefined));

/** Asks for a new code; the one before ends. */
export async function invite() {
  await hideInvitation();
  const { requestId, bootstrapToken, expiresAtMs } = await request("device.pair.invite");
  outcome.value = undefined;
  invitation.value = { requestId, token: bootstrapToken, expiresAtMs, connId: hello.value?.server.connId };
}

/** Ends the code that is shown. Without a connection the gateway has ended it already. */
export async function hideInvitation() {
  const shown = invitation.value;
  invitation.value = undefined;
  outcome.value = undefined;
  if (shown) await request("device.pair.uninvite", { requestId: shown.requestId }).catch(() => undefined);
}

/** The gateway ended it: nobody may scan what is on the screen. @param {Outcome} reason */
export function endInvitation(reason) {
  if (!invitation.value) return;
  invitation.value = undefined;
  outcome.value = reason;
}

/** Somebody has come in; is it by this code? @param {{ requestId: string, deviceId: string }} resolved */
export async function settleInvitation({ requestId, deviceId }) {
  if (invitation.value?.requestId !== requestId) return;
  endInvitation({ level: "ok", text: texts.deviceSigned });
  await devices.read();
  const found = devices.answer.value?.paired.find((device) => device.deviceId === deviceId);
  if (found && outcome.value?.level === "ok") outcome.value = { level: "ok", text: texts.signed(nameOf(found)) };
}
