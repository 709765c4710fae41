import { commonErrors, defineCommand, printableLine, type ResultOf } from "svc/sdk";

const json = { kind: "flag", description: "One JSON document on stdout" } as const;
/** A long log takes its time. */
const VERIFY_MS = 120_000;

type AuditEntry = ResultOf<"audit.list">["entries"][number];

const list = defineCommand({
  path: ["audit", "list"],
  summary: "List what agents and operators did, the newest first",
  options: {
    limit: { kind: "integer", description: "At most this many (default 100)", min: 1, max: 500, placeholder: "n" },
    before: { kind: "integer", description: "Only entries before this one", min: 1, placeholder: "seq" },
    action: { kind: "string", description: "Only actions that begin with this: tool., config.", placeholder: "text" },
    actor: { kind: "string", description: "Only acts of this operator or agent", placeholder: "id" },
    json,
  },
  rpc: true,
  run: (cli, { limit, before, action, actor }) =>
    cli.withClient(async (client) => {
      const question = {
        ...(typeof limit === "number" ? { limit } : {}),
        ...(typeof before === "number" ? { before } : {}),
        ...(typeof action === "string" ? { action } : {}),
        ...(typeof actor === "string" ? { actor } : {}),
      };
      const answer = await client.request("audit.list", question);
      if (cli.json) cli.stdout.json({ ok: true, ...answer });
      else {
        for (const entry of answer.entries) cli.stdout.line(lineOf(entry));
        if (answer.entries.length === 0) cli.stdout.line("No entries.");
        if (answer.nextBefore !== undefined) cli.stdout.line(`More: svc audit list --before ${answer.nextBefore}`);
      }
      return 0;
    }),
});

const verify = defineCommand({
  path: ["audit", "verify"],
  summary: "Check that no entry of the audit log was changed or removed",
  options: {
    known: { kind: "string", description: "A place that was noted earlier, as this command shows it", placeholder: "seq:hash" },
    json,
  },
  rpc: true,
  run: (cli, { known }) =>
    cli.withClient(async (client) => {
      const params = typeof known === "string" ? { known: toLink(known) } : {};
      const answer = await client.request("audit.verify", params, { timeoutMs: VERIFY_MS });
      const { ok, checked, from, head, problem } = answer;
      if (cli.json) cli.stdout.json(answer);
      else if (problem) cli.stdout.line(`entry ${problem.seq}: ${printableLine(problem.reason)}`);
      else {
        cli.stdout.line(`${checked} entries are unchanged${from > 0 ? `; those up to ${from} were dropped for their age` : ""}.`);
        cli.stdout.line(`Newest: ${head.seq}:${head.hash}`);
      }
      return ok ? 0 : 1;
    }),
});

export default [list, verify];

/** @throws {SvcError} `usage` */
function toLink(text: string): { seq: number; hash: string } {
  const [, seq, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text.trim()) ?? [];
  if (seq === undefined || hash === undefined)
    throw commonErrors.usage({ message: "audit verify: --known: expected <seq>:<hash> as svc audit verify shows it" });
  return { seq: Number(seq), hash };
}

/** `12  2026-03-01T12:03:44Z  ok     operator cli 127.0.0.1  config.set  path=gateway.port` */
function lineOf({ seq, at, outcome, actor, action, target, details }: AuditEntry): string {
  const facts = Object.entries(details ?? {}).map(([name, value]) => `${name}=${value}`);
  const who = [actor.kind, actor.id, ...(actor.remote === undefined ? [] : [actor.remote])].join(" ");
  const when = new Date(at).toISOString().replace(/\.\d+Z$/, "Z");
  return [String(seq), when, outcome.padEnd(5), who, action, ...(target === undefined ? [] : [target]), ...facts]
    .map(printableLine)
    .join("  ");
}
