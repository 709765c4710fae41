import { signal } from "@preact/signals";
import { texts } from "../texts/parts.js";
import { request } from "./conn.js";
import { newId } from "./env.js";
import { gatewayName, isOnline } from "./store.js";

/**
 * State of the channels view: accounts, people who wait to be let in, people who were.
 *
 * @typedef {import("./channel-facts.js").Status} Status
 * @typedef {import("./channel-facts.js").Request} Request
 * @typedef {import("./channel-facts.js").Paired} Paired
 */

/** Undefined until the first answer. */
export const status = signal(/** @type {Status | undefined} */ (undefined));
export const pairing = signal(/** @type {{ requests: Request[], paired: Paired[] } | undefined} */ (undefined));
export const failure = signal(/** @type {unknown} */ (undefined));
/** Failure to read the people; the accounts may be there all the same. */
export const pairingFailure = signal(/** @type {unknown} */ (undefined));
/** Epoch ms of the last answer. */
export const readAt = signal(0);

let asked = 0;

/** Reads accounts and people; an answer that was overtaken by a later question is dropped. */
export async function readChannels() {
  if (!isOnline.value) return;
  const turn = ++asked;
  const [accounts, people] = await Promise.allSettled([request("channels.status"), request("messaging.pairing.list")]);
  if (turn !== asked) return;
  if (accounts.status === "fulfilled") {
    status.value = accounts.value;
    failure.value = undefined;
    readAt.value = Date.now();
  } else if (isOnline.value) failure.value = accounts.reason;
  if (people.status === "fulfilled") {
    pairing.value = people.value;
    pairingFailure.value = undefined;
  } else if (isOnline.value) pairingFailure.value = people.reason;
}

/** @param {"start" | "stop"} word @param {{ channel: string, accountId: string }} account */
export async function changeAccount(word, { channel, accountId }) {
  await request(`channels.${word}`, { channel, accountId });
  await readChannels();
}

/** Stops and starts it. @param {{ channel: string, accountId: string }} account */
export async function restartAccount(account) {
  await request("channels.stop", account);
  await changeAccount("start", account);
}

/** Clears what a sign-in has stored; the account stops. @param {{ channel: string, accountId: string }} account @returns {Promise<boolean>} false: there was nothing to clear */
export async function signOutAccount({ channel, accountId }) {
  const { cleared } = await request("channels.logout", { channel, accountId }, { timeoutMs: 90_000 });
  await readChannels();
  return cleared;
}

/** @param {"approve" | "reject"} word @param {Request} one */
export async function decide(word, { channel, accountId, code }) {
  await request(`messaging.pairing.${word}`, { channel, accountId, code, ...(word === "approve" ? { notify: true } : {}) });
  await readChannels();
}

/** @param {Paired} one */
export async function revoke({ channel, accountId, senderId }) {
  await request("messaging.pairing.revoke", { channel, accountId, senderId });
  await readChannels();
}

/**
 * Sends a test message and waits a moment for what becomes of it.
 * @param {{ channel: string, accountId: string }} account
 * @param {string} to
 * @returns {Promise<{ status: string, to: string }>}
 */
export function sendTest({ channel, accountId }, to) {
  const message = texts.testMessage(gatewayName.value);
  return request("send", { channel, accountId, to, message, idempotencyKey: newId() });
}
