/**
 * Calls of tools that wait for an approval. Pure.
 *
 * @typedef {import("./approval-facts.js").Approval} Approval
 * @typedef {import("./turns.js").Item} Item
 */

/**
 * Requests of a conversation: those that have a call, and the others.
 * @param {readonly Approval[]} approvals @param {string} sessionKey @param {ReadonlyArray<{ items: Item[] }>} live
 */
export function placed(approvals, sessionKey, live) {
  const waiting = approvals.filter(({ request }) => request.sessionKey === sessionKey);
  const requests = askedBy(
    waiting,
    live.flatMap(({ items }) => items),
  );
  return { requests, others: waiting.filter((one) => ![...requests.values()].includes(one)) };
}

/**
 * Requests by the call that each is about, by its id. A request names its call, or is about a command that one call at work has in its arguments; any other has no place.
 * @param {readonly Approval[]} waiting @param {readonly Item[]} items
 * @returns {Map<string, Approval>}
 */
export function askedBy(waiting, items) {
  const found = /** @type {Map<string, Approval>} */ (new Map());
  const calls = items.flatMap((item) => (item.kind === "tool" && item.state === "running" ? [item] : []));
  for (const approval of waiting) {
    const call = calls.find((one) => !found.has(one.id) && isAbout(approval, one));
    if (call) found.set(call.id, approval);
  }
  return found;
}

/** @param {Approval} approval @param {import("./turns.js").ToolItem} call */
function isAbout({ approvalKind, request }, { id, name, args }) {
  if (typeof request.toolCallId === "string") return request.toolCallId === id;
  if (approvalKind !== "exec" || name !== "exec") return false;
  const { argv, command } = /** @type {{ argv?: unknown, command?: unknown }} */ (args ?? {});
  if (Array.isArray(request.commandArgv)) return JSON.stringify(argv) === JSON.stringify(request.commandArgv);
  return typeof command === "string" && command === request.command;
}
