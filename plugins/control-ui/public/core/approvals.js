import { signal } from "@preact/signals";
import { onOnline, request } from "./conn.js";

export { factsOf } from "./approval-facts.js";

/** Answers to requests for approval; `store.js` holds the requests. */

/** Reasons why answers could not be given, by id. */
export const answerErrors = signal(/** @type {Readonly<Record<string, string>>} */ ({}));

// The requests are read again then, too.
onOnline(() => {
  answerErrors.value = {};
});

/**
 * @param {import("./approval-facts.js").Approval} approval @param {"allow-once" | "allow-always" | "deny"} decision
 * @returns {Promise<string | undefined>} what did not work of an answer that counts
 */
export async function answerApproval({ approvalKind, id }, decision) {
  const { [id]: _, ...others } = answerErrors.value;
  answerErrors.value = others;
  try {
    return (await request(`${approvalKind}.approval.resolve`, { id, decision })).warning;
  } catch (error) {
    answerErrors.value = { ...answerErrors.value, [id]: error instanceof Error ? error.message : String(error) };
    return undefined;
  }
}
