import { type ApprovalDecision, type ApprovalRecord, type ChatCommand, cutEnd } from "svc/sdk";
import { type Board, notKeptText } from "./board.ts";
import { isShared, shortId } from "./in-chat.ts";

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
/** Shortest beginning of an id. */
const MIN_ID_CHARS = 4;

/** `/approve`: answers a question to a person in a chat; alone it lists those that are open. */
export function approveCommand(board: Pick<Board, "list" | "resolve">): ChatCommand {
  return {
    name: "approve",
    help: "<id> once, always or deny: answers a question of an agent; alone: lists them",
    scope: "approvals",
    isForOwners: true,
    async run({ argument, by, sessionKey }) {
      const open = [...board.list("exec"), ...board.list("plugin")];
      if (argument === "") return isShared(sessionKey) ? "Open questions are listed in a direct conversation only." : listText(open);
      const [id = "", word = "", ...more] = argument.split(/\s+/);
      const decision = Object.hasOwn(decisions, word.toLowerCase()) ? decisions[word.toLowerCase()] : undefined;
      if (!decision || more.length > 0) return "Expected /approve <id> once, always or deny; nothing was decided.";
      const [record, ...others] = found(open, id);
      if (!record) return `There is no open question ${id.slice(0, 40)}; /approve lists them.`;
      if (others.length > 0) {
        const ids = [record, ...others].slice(0, MAX_LISTED).map((one) => one.id.replace(/^plugin:/, ""));
        return `${others.length + 1} open questions begin with ${id}: ${ids.join(", ")}. Give more of the id.`;
      }
      if (!record.request.allowedDecisions.includes(decision))
        return `This one can be answered with ${record.request.allowedDecisions.join(" or ")} only; nothing was decided.`;
      const { isKept } = board.resolve(record.approvalKind, { id: record.id, decision, by });
      return (await isKept) ? said[decision] : sentence(notKeptText);
    },
  };
}

/** Open questions that an id in a chat may mean: the one of that name, else those that begin with it, in any case of letters. */
function found(open: readonly ApprovalRecord[], typed: string): ApprovalRecord[] {
  const wanted = typed.toLowerCase().replace(/^plugin:/, "");
  const nameOf = ({ id }: ApprovalRecord) => id.replace(/^plugin:/, "").toLowerCase();
  const named = open.filter((record) => nameOf(record) === wanted);
  if (named.length > 0 || wanted.length < MIN_ID_CHARS) return named;
  return open.filter((record) => nameOf(record).startsWith(wanted));
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function listText(open: readonly ApprovalRecord[]): string {
  if (open.length === 0) return "No question is open.";
  const lines = open
    .slice(0, MAX_LISTED)
    .map(({ id, request }) => `${shortId(id)}: ${cutEnd("title" in request ? request.title : (request.command ?? ""), 200)}`);
  return [...lines, ...(open.length > MAX_LISTED ? [`and ${open.length - MAX_LISTED} more`] : [])].join("\n");
}
