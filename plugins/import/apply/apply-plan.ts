import { lstat, mkdir, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type CliConfigFile, type CliContext, isSvcError, type Store, writeFileAtomic } from "svc/sdk";
import { CRON_SCOPE, type CronJobRow, cronJobKey } from "svc/sdk/internal";
import type { ImportPlan } from "../plan/import-plan.ts";
import type { LeftOut } from "../plan/left-out.ts";
import { MAX_NOTE_BYTES } from "../plan/notes.ts";
import { reasonOf, type SourceFolder } from "../read/folder.ts";
import { importSession } from "./sessions.ts";

/** Things that an import has done. */
export interface Done {
  /** Copy of the config from before; absent when the config did not change. */
  backup?: string;
  changedPaths: string[];
  /** Warnings of the config's checks, such as a variable that is not set. */
  warnings: string[];
  sessions: Array<{ key: string; messages: number }>;
  presentSessions: number;
  /** Scheduled jobs that are new here, switched off. */
  jobs: Array<{ id: string; name: string }>;
  notes: Array<{ agentId: string; path: string }>;
  leftOut: LeftOut[];
}

/** Carries a plan out, under the state lock: config, conversations, notes. @throws {SvcError} `lock-held`; what the writers of config and store throw */
export async function applyPlan(
  cli: CliContext,
  folder: SourceFolder,
  { plan, file }: { plan: ImportPlan; file: CliConfigFile },
): Promise<Done> {
  const local = await cli.local(["store"], { quiet: true });
  try {
    const done: Done = { changedPaths: [], warnings: [], sessions: [], presentSessions: 0, jobs: [], notes: [], leftOut: [] };
    await writeConfig(cli, { plan, file }, done);
    const store = local.service("store@2");
    for (const step of plan.sessions) {
      const outcome = await importSession(store, step, { signal: cli.signal, leftOut: done.leftOut });
      if (outcome === "present") done.presentSessions += 1;
      if (outcome === "imported") done.sessions.push({ key: step.session.key, messages: step.messages });
    }
    for (const job of plan.jobs) if (await importJob(store, job)) done.jobs.push({ id: job.id, name: job.name });
    await copyNotes(cli, folder, { plan, done });
    return done;
  } finally {
    await local.close();
  }
}

/** False for a job that is here already; it stays as it is. */
async function importJob(store: Pick<Store, "commit">, job: CronJobRow): Promise<boolean> {
  try {
    await store.commit([{ op: "kv.put", scope: CRON_SCOPE, key: cronJobKey(job.id), value: job, ifAbsent: true }]);
    return true;
  } catch (error) {
    if (isSvcError(error, "exists")) return false;
    throw error;
  }
}

async function writeConfig(cli: CliContext, { plan, file }: { plan: ImportPlan; file: CliConfigFile }, done: Done): Promise<void> {
  const change = { kind: "edit", apply: () => plan.config } as const;
  const trial = await file.write(change, { dryRun: true });
  if (!trial.changed) return;
  const stamp = new Date().toISOString().replace(/[:.]/g, "-");
  done.backup = join(dirname(trial.file), `${basename(trial.file)}.before-import-${stamp}`);
  await cli.writeFile(done.backup, await readFile(trial.file, "utf8"), { mode: 0o600 });
  await file.write(change, { baseHash: trial.before.hash });
  done.changedPaths = trial.changedPaths;
  done.warnings = trial.warnings;
}

async function copyNotes(cli: CliContext, folder: SourceFolder, { plan, done }: { plan: ImportPlan; done: Done }): Promise<void> {
  for (const { agentId, from, to } of plan.notes) {
    cli.signal.throwIfAborted();
    try {
      const bytes = await folder.read(from, MAX_NOTE_BYTES);
      if (await lstat(to).catch(() => undefined)) continue;
      await mkdir(dirname(to), { recursive: true, mode: 0o700 });
      await writeFileAtomic(to, bytes, { mode: 0o600 });
      done.notes.push({ agentId, path: from });
    } catch (error) {
      done.leftOut.push({ path: from, reason: reasonOf(error) });
    }
  }
}
