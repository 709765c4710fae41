import { type CliClient, type CliContext, type CliValues, commonErrors, defineCommand, type ResultOf } from "svc/sdk";
import { reasonTexts } from "../board.ts";
import { type Approval, duration, matchId, offers, printApproval, shortId, summaryOf } from "./approval-text.ts";
import { watchApprovals } from "./watch.ts";

const json = { kind: "flag", description: "One JSON document on stdout" } as const;
const positionals = [{ name: "id", required: true }];
const scopes = ["operator.approvals"];

const listOptions = {
  watch: { kind: "flag", description: "Stay connected and show requests as they come; while it runs, requests can be answered" },
  json: { kind: "flag", description: "One JSON document on stdout; with --watch one per line" },
} as const;

const root = defineCommand({
  path: ["approvals"],
  summary: "Show requests waiting for a person's approval",
  details:
    "A request is put to connected clients that can show it: the control UI, svc approvals --watch, or a client of your own. While none is connected, requests end at once without an answer, which counts as a no.",
  examples: [
    ["See requests as they come", "svc approvals --watch"],
    ["Answer one", "svc approvals allow 3f2a91c0"],
  ],
  options: listOptions,
  rpc: true,
  run: runList,
});

const list = defineCommand({ ...root, path: ["approvals", "list"], summary: "List pending requests, and those that ended unanswered" });

const allow = defineCommand({
  path: ["approvals", "allow"],
  summary: "Allow a request, once",
  details: "The id may be shortened to a beginning that is unique among the pending requests.",
  positionals,
  options: { always: { kind: "flag", description: "Allow the same from now on; only where the request offers it" }, json },
  rpc: true,
  run: (cli, values, [id = ""]) => decide(cli, id, values.always === true ? "allow-always" : "allow-once"),
});

const deny = defineCommand({
  path: ["approvals", "deny"],
  summary: "Deny a request",
  details: "The id may be shortened to a beginning that is unique among the pending requests.",
  positionals,
  options: { json },
  rpc: true,
  run: (cli, _values, [id = ""]) => decide(cli, id, "deny"),
});

export default [root, list, allow, deny];

async function runList(cli: CliContext, values: CliValues): Promise<number> {
  if (values.watch === true) return watchApprovals(cli);
  const { pending, ended } = await cli.withClient(readApprovals, { scopes });
  if (cli.json) {
    cli.stdout.json({ ok: true, pending, ended });
    return 0;
  }
  const now = Date.now();
  const ids = pending.map(({ id }) => id);
  for (const approval of pending) printApproval(cli, approval, { shown: shortId(approval.id, ids), now });
  if (pending.length === 0) cli.stdout.line("No request waits for approval.");
  if (ended.length > 0) printEnded(cli, ended, now);
  return 0;
}

function printEnded(cli: CliContext, ended: readonly Approval[], now: number): void {
  cli.stdout.line();
  cli.stdout.line(cli.color.bold("Ended without an answer"));
  const ids = ended.map(({ id }) => id);
  for (const approval of ended) {
    const { id, endedAtMs = now, terminalReason } = approval;
    cli.stdout.line(`  ${shortId(id, ids)}  ${duration(now - endedAtMs)} ago, ${terminalReason ?? "unknown"}: ${summaryOf(approval)}`);
  }
  for (const reason of new Set(ended.flatMap(({ terminalReason }) => terminalReason ?? []))) {
    cli.stdout.line(cli.color.dim(`  ${reason}: ${reasonTexts[reason]}`));
  }
}

type Decision = ResultOf<"exec.approval.waitDecision">["decision"] & string;

async function decide(cli: CliContext, typed: string, decision: Decision): Promise<number> {
  const answer = async (client: CliClient) => {
    const { pending, ended } = await readApprovals(client);
    const found = findPending(typed, pending, ended);
    if (!offers(found, decision)) {
      throw commonErrors.failed({ message: `approvals: ${found.id} cannot be allowed for always; leave out --always to allow it once` });
    }
    const method = found.approvalKind === "exec" ? "exec.approval.resolve" : "plugin.approval.resolve";
    const { warning } = await client.request(method, { id: found.id, decision });
    return { approval: found, warning };
  };
  const { approval, warning } = await cli.withClient(answer, { scopes });
  if (cli.json) cli.stdout.json({ ok: true, id: approval.id, decision, ...(warning === undefined ? {} : { warning }) });
  else {
    const isKept = decision === "allow-always" && warning === undefined;
    const done = decision === "deny" ? "Denied" : isKept ? "Allowed from now on" : "Allowed once";
    cli.stdout.line(`${done}: ${summaryOf(approval)}`);
    if (warning !== undefined) cli.stderr.line(`Warning: ${warning}`);
  }
  return 0;
}

/** @throws {SvcError} `failed` when the id means none, or several */
function findPending(typed: string, pending: readonly Approval[], ended: readonly Approval[]): Approval {
  const [found, ...others] = matchId(typed, pending);
  if (found && others.length === 0) return found;
  if (found) {
    const ids = [found, ...others].map(({ id }) => id).join(", ");
    throw commonErrors.failed({ message: `approvals: "${typed}" fits several requests: ${ids}; give more of the id` });
  }
  const [past] = matchId(typed, ended);
  const why = past?.terminalReason ? `it ended without an answer (${past.terminalReason}: ${reasonTexts[past.terminalReason]})` : undefined;
  throw commonErrors.failed({ message: `approvals: no pending request "${typed}"${why ? `; ${why}` : "; see svc approvals list"}` });
}

/** Both families together: pending ones oldest first, ended ones newest first. */
async function readApprovals(client: CliClient): Promise<{ pending: Approval[]; ended: Approval[] }> {
  const [exec, plugin] = await Promise.all([
    client.request("exec.approval.list", { ended: true }),
    client.request("plugin.approval.list", { ended: true }),
  ]);
  const all = [...exec, ...plugin];
  const pending = all.filter(({ endedAtMs }) => endedAtMs === undefined).sort((a, b) => a.createdAtMs - b.createdAtMs);
  const ended = all.filter(({ endedAtMs }) => endedAtMs !== undefined).sort((a, b) => (b.endedAtMs ?? 0) - (a.endedAtMs ?? 0));
  return { pending, ended };
}
