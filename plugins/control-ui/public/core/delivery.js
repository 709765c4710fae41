import { settle } from "./chat.js";
import { noteFailure } from "./chat-runs.js";
import { onOnline, request } from "./conn.js";
import { newId } from "./env.js";
import { changeOutgoing, heldFiles, holdFiles, outbox, putOutgoing } from "./outbox.js";

/**
 * How messages leave: kept first, then sent, and sent again under the same key on each new connection until they are answered.
 */

onOnline(() => void resend());

/** @param {string} sessionKey @param {string} text @param {import("./attached.js").Attached[]} [files] @returns {string} the run's id */
export function send(sessionKey, text, files = []) {
  const key = newId();
  holdFiles(key, files);
  const parts = files.map(({ kind, name, type }) => ({ kind, name, type }));
  putOutgoing({ key, sessionKey, text, at: Date.now(), state: "sending", ...(parts.length > 0 ? { files: parts } : {}) });
  void deliver(key);
  return key;
}

/** The same message under the same key: the gateway runs it once. @param {string} key */
export function retry(key) {
  changeOutgoing(key, { state: "sending", error: undefined });
  void deliver(key);
}

/** @param {string} key */
async function deliver(key) {
  const entry = outbox.value.find((e) => e.key === key);
  if (!entry) return;
  try {
    const attachments = entry.files ? await attachmentsOf(key) : undefined;
    const params = { sessionKey: entry.sessionKey, message: entry.text, idempotencyKey: key };
    const answer = await request("chat.send", attachments ? { ...params, attachments } : params);
    changeOutgoing(key, { state: "sent" });
    if (answer.status === "ok") await settle(entry.sessionKey, key);
  } catch (error) {
    await refused(entry, /** @type {import("./conn.js").ClientError} */ (error));
  }
}

/** @param {string} key */
async function attachmentsOf(key) {
  const { encode } = await import("./attaching.js");
  return encode(heldFiles(key));
}

/** @param {import("./turns.js").Outgoing} entry @param {import("./conn.js").ClientError} error */
async function refused(entry, error) {
  const payload = /** @type {{ status?: string } | undefined} */ (error.payload);
  if (payload?.status === "error") {
    // The run was accepted once and has failed; its message is stored.
    noteFailure(entry.sessionKey, entry.key, { message: error.message, text: entry.text });
    await settle(entry.sessionKey, entry.key);
  } else if (error.code !== "connection-closed") {
    changeOutgoing(entry.key, { state: "failed", error: error.message, retry: error.retryable });
  }
  // A lost connection changes nothing: the same key goes out again on the next one.
}

async function resend() {
  for (const entry of outbox.value) if (entry.state !== "failed") await deliver(entry.key);
}
