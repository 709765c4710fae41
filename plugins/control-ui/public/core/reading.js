import { signal } from "@preact/signals";
import { texts } from "../texts/parts.js";
import { isOnline } from "./store.js";

const RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 10_000;

/**
 * Something that a view reads from the gateway: the last answer, when it came, and why there is none. An answer that was overtaken by a later
 * question is dropped, and a question that the gateway would take again is asked once more by itself.
 *
 * @template Answer
 * @param {(question: any) => Promise<Answer>} ask
 */
export function createReading(ask) {
  /** Undefined until the first answer. */
  const answer = signal(/** @type {Answer | undefined} */ (undefined));
  const failure = signal(/** @type {unknown} */ (undefined));
  /** Epoch ms of the last answer. */
  const readAt = signal(0);
  let turns = 0;

  /** @param {unknown} [question] */
  async function read(question) {
    if (!isOnline.peek()) return;
    const turn = ++turns;
    try {
      const found = await askTwice(() => ask(question));
      if (turn !== turns) return;
      answer.value = found;
      failure.value = undefined;
      readAt.value = Date.now();
    } catch (error) {
      if (turn === turns && isOnline.peek()) failure.value = error;
    }
  }

  /** Ends the wait for an answer; what comes of it is dropped. */
  function cancel() {
    turns += 1;
    failure.value = new Error(texts.youEndedWait);
  }

  return { answer, failure, readAt, read, cancel };
}

/** @template Answer @param {() => Promise<Answer>} ask @returns {Promise<Answer>} */
async function askTwice(ask) {
  try {
    return await ask();
  } catch (error) {
    const { retryable, retryAfterMs = RETRY_MS } = /** @type {{ retryable?: boolean, retryAfterMs?: number }} */ (error);
    if (!retryable || !isOnline.peek()) throw error;
    await new Promise((done) => setTimeout(done, Math.min(retryAfterMs, LONGEST_RETRY_MS)));
    return ask();
  }
}
