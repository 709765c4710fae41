import type { ApprovalDecision, ApprovalRecord, ChatCommand } from "svc/sdk";
import type { Board } from "./board.ts";
import { shortId } from "./in-chat.ts";

const decisions: Readonly<Record<string, ApprovalDecision>> = {
  once: "allow-once",
  allow: "allow-once",
  always: "allow-always",
  deny: "deny",
};
const said: Readonly<Record<ApprovalDecision, string>> = {
  "allow-once": "Allowed, this once.",
  "allow-always": "Allowed for good.",
  deny: "Denied.",
};
/** Open questions that one answer lists. */
const MAX_LISTED = 10;

/** `/approve`: answers a question to a person in a chat; alone it lists those that are open. */
export function approveCommand(board: Pick<Board, "list" | "resolve">): ChatCommand {
  return {
    name: "approve",
    help: "<id> once, always or deny: answers a question of an agent; alone: lists them",
    scope: "approvals",
    isForOwners: true,
    async run({ argument, by }) {
      const open = [...board.list("exec"), ...board.list("plugin")];
      if (argument === "") return listText(open);
      const [id = "", word = "", ...more] = argument.split(/\s+/);
      const decision = Object.hasOwn(decisions, word.toLowerCase()) ? decisions[word.toLowerCase()] : undefined;
      if (!decision || more.length > 0) return "Expected /approve <id> once, always or deny; nothing was decided.";
      const found = open.filter((record) => id.length >= 4 && record.id.replace(/^plugin:/, "").startsWith(id.toLowerCase()));
      const [record] = found;
      if (!record) return `There is no open question ${id.slice(0, 40)}; /approve lists them.`;
      if (found.length > 1) return `${found.length} open questions begin with ${id}; give more of the id.`;
      if (!record.request.allowedDecisions.includes(decision))
        return `This one can be answered with ${record.request.allowedDecisions.join(" or ")} only; nothing was decided.`;
      board.resolve(record.approvalKind, { id: record.id, decision, by });
      return said[decision];
    },
  };
}

function listText(open: readonly ApprovalRecord[]): string {
  if (open.length === 0) return "No question is open.";
  const lines = open
    .slice(0, MAX_LISTED)
    .map(({ id, request }) => `${shortId(id)}: ${("title" in request ? request.title : (request.command ?? "")).slice(0, 200)}`);
  return [...lines, ...(open.length > MAX_LISTED ? [`and ${open.length - MAX_LISTED} more`] : [])].join("\n");
}
