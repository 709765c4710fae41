import { signal } from "@preact/signals";
import { onEvent, onOnline, request } from "./conn.js";

export { factsOf } from "./approval-facts.js";

/**
 * Requests that wait for a person: read after each connect, then kept up to date by events.
 *
 * @typedef {import("./approval-facts.js").Approval} Approval
 */

/** Oldest first. */
export const approvals = signal(/** @type {Approval[]} */ ([]));
/** Reasons why answers could not be given, by id. */
export const answerErrors = signal(/** @type {Readonly<Record<string, string>>} */ ({}));

const families = ["exec", "plugin"];

export function startApprovals() {
  onOnline(() => {
    approvals.value = [];
    answerErrors.value = {};
    for (const family of families) void readPending(family);
  });
  for (const family of families) {
    onEvent(`${family}.approval.requested`, add);
    onEvent(`${family}.approval.resolved`, ({ id }) => {
      approvals.value = approvals.value.filter((approval) => approval.id !== id);
    });
  }
}

/**
 * @param {Approval} approval @param {"allow-once" | "allow-always" | "deny"} decision
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

/** A gateway without the plugin, or a sign-in without the right, has no such requests to show. @param {string} family */
async function readPending(family) {
  const list = await request(`${family}.approval.list`).catch(() => []);
  for (const approval of list) add(approval);
}

/** @param {Approval} approval */
function add(approval) {
  if (approvals.value.some(({ id }) => id === approval.id)) return;
  approvals.value = [...approvals.value, approval].sort((a, b) => a.createdAtMs - b.createdAtMs);
}
