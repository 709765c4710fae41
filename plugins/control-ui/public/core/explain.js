import { request } from "./conn.js";
import { createReading } from "./reading.js";

/** @typedef {import("./explain-facts.js").Explained} Explained */
/** @typedef {import("./explain-facts.js").Replayed} Replayed */

/** Longest text that is asked for; the page shows 4 KB of it until somebody wants all. */
const MAX_CHARS = 64_000;
const REPLAY_LIMIT_MS = 300_000;

/** Reading of how one run came to its answer; its question is the turn whose prompt is shown, by default the last. @param {string} runId */
export function createExplained(runId) {
  return createReading(
    /** @param {number | undefined} turn @returns {Promise<Explained>} */
    (turn) => request("sessions.explain", { runId, maxChars: MAX_CHARS, ...(turn === undefined ? {} : { turn }) }),
  );
}

/**
 * Asks another model what a run asked. Waits as long as the gateway does, or until `signal` ends the wait.
 * @param {string} runId @param {string} model @param {AbortSignal} signal @returns {Promise<Replayed>}
 */
export function replay(runId, model, signal) {
  return request(
    "runs.replay",
    { runId, model, timeoutMs: REPLAY_LIMIT_MS, maxChars: MAX_CHARS },
    { signal, timeoutMs: REPLAY_LIMIT_MS + 30_000 },
  );
}
