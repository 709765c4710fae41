import { type CliCommand, commonErrors, defineCommand, printable } from "svc/sdk";
import { withDreams } from "./with-dreams.ts";

const agent = { kind: "string", description: "Agent whose memory it is; default: the default agent", placeholder: "id" } as const;
const json = { kind: "flag", description: "One JSON document on stdout" } as const;
const path = { kind: "string", description: "Note YYYY-MM-DD.md or folder with some, below the workspace", placeholder: "path" } as const;
const agentOf = (value: unknown) => (typeof value === "string" ? value : undefined);
const pathOf = (value: unknown) => (typeof value === "string" ? { path: value } : {});

/** `svc memory rem-harness`: what a sweep would find. */
const harness = defineCommand({
  path: ["memory", "rem-harness"],
  summary: "Show what a sweep would find, without writing anything",
  examples: [
    ["From the short-term memory", "svc memory rem-harness"],
    ["From historical notes", "svc memory rem-harness --path memory --grounded"],
  ],
  options: { path, grounded: { kind: "flag", description: "Also show the entries that rem-backfill would write" }, agent, json },
  rpc: true,
  run: (cli, values) =>
    withDreams(cli, async (access) => {
      const found = await access.preview(agentOf(values.agent), {
        ...pathOf(values.path),
        ...(values.grounded === true ? { grounded: true } : {}),
      });
      if (cli.json) cli.stdout.json({ ok: true, ...found });
      else {
        const line = (text: string) => cli.stdout.line(printable(text));
        line(`${found.entries} statements`);
        for (const { tag, count, strength } of found.themes) line(`theme ${tag}: in ${count}, strength ${strength.toFixed(2)}`);
        for (const { snippet, confidence, source } of found.truths) line(`truth ${confidence.toFixed(2)} ${source}: ${snippet}`);
        for (const { snippet, score, source } of found.promotions) line(`would promote ${score.toFixed(3)} ${source}: ${snippet}`);
        line(`\n${found.narrative}`);
        for (const entry of found.grounded ?? []) line(`\n${entry}`);
      }
      return 0;
    }),
});

/** `svc memory rem-backfill`: historical notes into the diary. */
const backfill = defineCommand({
  path: ["memory", "rem-backfill"],
  summary: "Write historical daily notes into the diary, or take that back",
  details:
    "An entry that is there already is replaced. --rollback removes the entries of backfills alone, --rollback-short-term what only a backfill has staged.",
  examples: [
    ["The whole history", "svc memory rem-backfill --path memory"],
    ["And stage what may last", "svc memory rem-backfill --path memory --stage-short-term"],
    ["Take the entries back", "svc memory rem-backfill --rollback"],
  ],
  options: {
    path,
    "stage-short-term": { kind: "flag", description: "Put what may last into the short-term memory" },
    rollback: { kind: "flag", description: "Remove the entries of backfills from the diary" },
    "rollback-short-term": { kind: "flag", description: "Remove what only a backfill has staged" },
    agent,
    json,
  },
  rpc: true,
  run: (cli, values) => {
    const isWrite = typeof values.path === "string";
    const wanted = [isWrite, values.rollback === true, values["rollback-short-term"] === true].filter(Boolean).length;
    if (wanted !== 1 || (!isWrite && values["stage-short-term"] === true))
      throw commonErrors.usage({
        message: "memory rem-backfill: expected one of --path (with --stage-short-term, if wanted), --rollback and --rollback-short-term",
      });
    const action = isWrite
      ? values["stage-short-term"] === true
        ? "stage"
        : "write"
      : values.rollback === true
        ? "rollback"
        : "rollback-staged";
    return withDreams(cli, async (access) => {
      const done = await access.backfill(agentOf(values.agent), { ...pathOf(values.path), action });
      if (cli.json) cli.stdout.json({ ok: true, ...done });
      else if (done.removed !== undefined)
        cli.stdout.line(`${done.agentId}: ${done.removed} ${action === "rollback" ? "entries" : "statements"} removed`);
      else
        cli.stdout.line(
          `${done.agentId}: ${done.entries ?? 0} entries written${action === "stage" ? `, ${done.staged ?? 0} statements staged` : ""}`,
        );
      return 0;
    });
  },
});

export default [harness, backfill] satisfies CliCommand[];
