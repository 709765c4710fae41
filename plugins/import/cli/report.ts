import type { CliContext } from "svc/sdk";
import type { Done } from "../apply/apply-plan.ts";
import type { ImportPlan } from "../plan/import-plan.ts";
import type { LeftOut } from "../plan/left-out.ts";

/** Rows of a table in a terminal; `--json` has all of them. */
const MAX_ROWS = 200;

/** The folder, as it was recognised. */
export interface Found {
  dir: string;
  kind: "gateway" | "workspace";
  config?: string;
}

/** Shows what an import would do. Of the config only paths are shown, because values may be secret. */
export function reportPlan(
  cli: CliContext,
  { found, plan, changedPaths, warnings }: { found: Found; plan: ImportPlan; changedPaths: string[]; warnings: string[] },
): void {
  const sessions = plan.sessions.map(({ session: { key }, messages }) => ({ key, messages }));
  const notes = plan.notes.map(({ agentId, from: path }) => ({ agentId, path }));
  const jobs = plan.jobs.map(({ id, name }) => ({ id, name }));
  const { sameNotes, leftOut } = plan;
  if (cli.json) {
    cli.stdout.json({ ok: true, dryRun: true, ...found, changedPaths, sessions, jobs, notes, sameNotes, warnings, leftOut });
    return;
  }
  cli.stdout.line(`Would import from ${found.dir}:`);
  table(cli, ["TAKES OVER", "WHAT"], rowsOf({ changedPaths, sessions, jobs, notes }));
  if (sameNotes > 0) cli.stdout.line(cli.color.dim(`${count(sameNotes, "note")} here already`));
  if (sessions.length > 0) cli.stdout.line(cli.color.dim("conversations whose key is here already stay as they are"));
  listLeftOut(cli, leftOut);
  for (const warning of warnings) cli.stderr.line(cli.color.yellow(`warning: ${warning}`));
}

/** Shows what an import has done. */
export function reportDone(
  cli: CliContext,
  { found, plan, done, next }: { found: Found; plan: ImportPlan; done: Done; next: string },
): void {
  const leftOut = [...plan.leftOut, ...done.leftOut];
  const changed = done.changedPaths.length + done.sessions.length + done.jobs.length + done.notes.length > 0;
  if (cli.json) {
    const { changedPaths, sessions, presentSessions, jobs, notes, backup, warnings } = done;
    const { sameNotes } = plan;
    cli.stdout.json({
      ok: true,
      changed,
      ...found,
      backup,
      changedPaths,
      sessions,
      presentSessions,
      jobs,
      notes,
      sameNotes,
      warnings,
      leftOut,
    });
    return;
  }
  cli.stdout.line(changed ? `Imported from ${found.dir}:` : `Nothing new in ${found.dir}`);
  table(cli, ["TOOK OVER", "WHAT"], rowsOf(done));
  if (done.backup) cli.stdout.line(cli.color.dim(`config from before: ${done.backup}`));
  if (done.presentSessions > 0) cli.stdout.line(cli.color.dim(`${count(done.presentSessions, "conversation")} here already`));
  if (plan.sameNotes > 0) cli.stdout.line(cli.color.dim(`${count(plan.sameNotes, "note")} here already`));
  listLeftOut(cli, leftOut);
  for (const warning of done.warnings) cli.stderr.line(cli.color.yellow(`warning: ${warning}`));
  const channels = [...new Set(done.changedPaths.flatMap((path) => /^channels\.(?!defaults\b)([^.[]+)/.exec(path)?.[1] ?? []))];
  for (const id of channels)
    cli.stdout.line(`Channel ${id} is off: stop the other program, then svc config set channels.${id}.enabled true`);
  if (done.jobs.length > 0)
    cli.stdout.line("Scheduled jobs are off: stop the other program, then svc cron list --all and svc cron enable <id>");
  cli.stdout.line(`Next: ${next}`);
}

function rowsOf(what: Pick<Done, "changedPaths" | "sessions" | "jobs" | "notes">): string[][] {
  return [
    ...what.changedPaths.map((path) => ["config", path]),
    ...what.sessions.map(({ key, messages }) => ["conversation", `${key} (${count(messages, "message")})`]),
    ...what.jobs.map(({ id, name }) => ["job", `${name} (${id})`]),
    ...what.notes.map(({ agentId, path }) => ["note", `${path} (agent ${agentId})`]),
  ];
}

function listLeftOut(cli: CliContext, leftOut: readonly LeftOut[]): void {
  if (leftOut.length === 0) return;
  table(
    cli,
    ["LEFT OUT", "WHY"],
    leftOut.map(({ path, reason }) => [path, reason]),
  );
}

function table(cli: CliContext, head: string[], rows: readonly string[][]): void {
  if (rows.length === 0) return;
  cli.stdout.line();
  cli.stdout.table(head, rows.slice(0, MAX_ROWS));
  if (rows.length > MAX_ROWS) cli.stdout.line(cli.color.dim(`… and ${rows.length - MAX_ROWS} more; --json has all`));
}

function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}
