import { type CliCommand, defineCommand, printableLine } from "svc/sdk";
import { dreamRows, hasDreamProblem, sweptLines } from "./dream-text.ts";
import { withDreams } from "./with-dreams.ts";

const agent = { kind: "string", description: "Only the workspace of this agent", placeholder: "id" } as const;
const json = { kind: "flag", description: "One JSON document on stdout" } as const;
const agentOf = (value: unknown) => (typeof value === "string" ? value : undefined);

/** `svc memory dream run`: a sweep now. */
const run = defineCommand({
  path: ["memory", "dream", "run"],
  summary: "Sweep the short-term memory now",
  details:
    "Reads new notes and conversations, stages and ranks their statements, promotes what lasts into MEMORY.md and tells of it in DREAMS.md. Works also while dreaming is off. " +
    "With no gateway the diary is written in its plain form. Exits with 1 when a workspace failed.",
  examples: [["Every workspace", "svc memory dream run"]],
  options: { agent, json },
  rpc: true,
  run: (cli, values) =>
    withDreams(cli, async (access) => {
      const { workspaces } = await access.run(agentOf(values.agent));
      const isWell = workspaces.every(({ error }) => error === undefined);
      if (cli.json) cli.stdout.json({ ok: isWell, workspaces });
      else for (const line of workspaces.flatMap(sweptLines)) cli.stdout.line(printableLine(line));
      return isWell ? 0 : 1;
    }),
});

/** `svc memory dream status`: when, and what became of it. */
const status = defineCommand({
  path: ["memory", "dream", "status"],
  summary: "Show whether the short-term memory is swept, and what became of it",
  details: "Exits with 1 when something keeps dreaming from working.",
  examples: [["Every workspace", "svc memory dream status"]],
  options: { agent, json },
  rpc: true,
  run: (cli, values) =>
    withDreams(cli, async (access) => {
      const found = await access.status(agentOf(values.agent));
      const isWell = !hasDreamProblem(found);
      if (cli.json) cli.stdout.json({ ok: isWell, ...found });
      else for (const [name, value] of dreamRows(found)) cli.stdout.line(`${name.padEnd(11)} ${printableLine(value)}`);
      return isWell ? 0 : 1;
    }),
});

export default [run, status] satisfies CliCommand[];
