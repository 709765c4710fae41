import { readChannels } from "./channels.js";
import { changeConfig } from "./config-write.js";
import { onEvent, request } from "./conn.js";
import { createReading } from "./reading.js";

/**
 * Setting a channel up, and signing an account in on its platform.
 *
 * @typedef {import("./channel-setup-facts.js").Schema} Schema
 * @typedef {{ kind: "qr", text: string } | { kind: "url", url: string } | { kind: "code", code: string }} Step
 * @typedef {{ identity?: string, note?: string, started: boolean }} SignedIn
 */

/** The schema of the whole config; read when somebody wants to set a channel up. */
export const configSchema = createReading(
  () => /** @type {Promise<{ schema: Schema, uiHints: import("./channel-setup-facts.js").Hints }>} */ (request("config.schema")),
);

/** Writes a channel's section. What is secret in it is sent once and not kept. @param {string} channel @param {Record<string, unknown>} section */
export async function setUpChannel(channel, section) {
  const { pendingRestart } = await changeConfig(() => ({ patch: { channels: { [channel]: section } } }));
  await readChannels();
  return pendingRestart;
}

/**
 * Follows a sign-in to its end; the gateway ends it with its time, and with this connection.
 * @param {{ channel: string, accountId: string }} account
 * @param {{ onStep: (step: Step) => void, onBegun: (timeoutMs: number) => void, signal: AbortSignal }} follow
 * @returns {Promise<SignedIn>}
 */
export async function signInAccount({ channel, accountId }, { onStep, onBegun, signal }) {
  /** @type {string | undefined} */
  let loginId;
  const end = onEvent("channels.login", (event) => {
    if (event.loginId === loginId) onStep(event.step);
  });
  try {
    return await request(
      "channels.login",
      { channel, accountId },
      {
        signal,
        onAccepted: (accepted) => {
          loginId = String(accepted.loginId);
          onBegun(Number(accepted.timeoutMs));
        },
      },
    );
  } finally {
    end();
  }
}
