import { signal } from "@preact/signals";
import { request } from "./conn.js";
import { isAtWork } from "./outcome-facts.js";
import { isOnline, readOnlyReason } from "./store.js";

/** @typedef {import("./outcome-facts.js").Outcome} Outcome */
/** @typedef {import("@preact/signals").Signal<Outcome | undefined>} Known */

const MAX_KNOWN = 200;
/** Outcomes of runs without an answer; they do not change any more. @type {Map<string, Known>} */
const known = new Map();

/** The outcome of a run that has ended; undefined until the gateway has said. @param {string} runId @returns {Known} */
export function outcomeOf(runId) {
  const found = known.get(runId);
  if (found) return found;
  const made = signal(/** @type {Outcome | undefined} */ (undefined));
  known.set(runId, made);
  const [oldest] = known.keys();
  if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest);
  void ask(runId, made);
  return made;
}

/** @param {string} runId @param {Known} into */
async function ask(runId, into) {
  try {
    // A sign-in that may not write may not wait for runs either; the trace of the run says the same.
    const answer = readOnlyReason.peek()
      ? await request("sessions.explain", { runId, maxChars: 1_000 })
      : await request("agent.wait", { runId, timeoutMs: 0 });
    into.value = answer;
    if (isAtWork(answer)) known.delete(runId);
  } catch {
    if (isOnline.peek()) into.value = { status: "unknown" };
    else known.delete(runId);
  }
}
