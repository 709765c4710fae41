import { basename } from "node:path";
import { type CliContext, type CliValues, commonErrors } from "svc/sdk";
import { sameValue, sharedErrors, valueAt } from "svc/sdk/internal";
import { closingNote } from "./closing-note.ts";
import { createMergePatch, lostEntries } from "./merge-patch.ts";

/** Maximum number of retries of an edit because the file changed under it. */
const MAX_CONFLICTS = 10;
/** Close code of connections whose secret was replaced. */
const AUTH_CHANGED = 4001;

/** Flags that every command has which changes the config. */
export const editOptions = {
  "dry-run": { kind: "flag", description: "Check the change and show what it touches, write nothing" },
  json: { kind: "flag", description: "One JSON document on stdout" },
} as const;

export interface ConfigEdit {
  /** Source tree → wanted source tree; may throw. */
  apply(source: unknown): unknown;
  /** Entries and most of the file may vanish. */
  replace?: boolean;
}

/** One person's entries are not lost because another one wrote a shorter list. */
const guardedPaths = [
  ["agents", "list"],
  ["models", "providers"],
  ["plugins", "entries"],
  ["agents", "defaults", "models"],
] as const;

/**
 * Changes the config by the one write pipeline: in the running gateway, or here when none runs. Ends with the sentence that says what came of it.
 * @throws {SvcError} `config-*`; `gateway-unreachable` when the gateway that runs does not answer
 */
export async function editConfig(cli: CliContext, values: CliValues, edit: ConfigEdit): Promise<number> {
  const isRemote = typeof values.url === "string";
  if (isRemote && values["dry-run"] === true) {
    throw commonErrors.usage({ message: "--dry-run reads the file of this machine; leave out --url" });
  }
  for (let left = MAX_CONFLICTS; ; left--) {
    try {
      return isRemote ? await editRemote(cli, edit) : await editHere(cli, values, edit);
    } catch (error) {
      // Somebody else was faster; the edit is made again on what stands there now, which includes --expect.
      if (left === 0 || !isConflict(error)) throw error;
    }
  }
}

async function editHere(cli: CliContext, values: CliValues, edit: ConfigEdit): Promise<number> {
  const file = await cli.configFile();
  const change = { kind: "edit", apply: edit.apply } as const;
  const allowDestructive = edit.replace ? ("all" as const) : undefined;
  const plan = await file.write(change, { dryRun: true, keepRefused: values["dry-run"] !== true, allowDestructive });
  const done = { file: plan.file, changedPaths: plan.changedPaths };
  if (!plan.changed) return report(cli, { ...done, changed: false, text: "No change." });
  for (const warning of plan.warnings) cli.stderr.line(cli.color.yellow(`warning: ${warning}`));
  if (values["dry-run"] === true) {
    return report(cli, { ...done, changed: false, dryRun: true, text: wouldChange(plan.file, plan.changedPaths) });
  }
  const owner = await cli.lockOwner();
  if (owner?.port) {
    const ask = viaGateway(cli, { before: plan.before.source, after: plan.after.source, baseHash: plan.before.hash });
    return ask.catch(async (error: unknown) => {
      // A new secret ends every connection that was made with the old one, this one too: the file tells what became of the write.
      if (!isAuthChanged(error) || (await file.load()).hash !== plan.after.hash) throw error;
      return report(cli, { ...done, changed: true, action: "hot", text: "Applied live by the running gateway." });
    });
  }
  await file.write(change, { baseHash: plan.before.hash, allowDestructive });
  return report(cli, { ...done, changed: true, text: "Gateway not running; takes effect at next start." });
}

function isConflict(error: unknown): boolean {
  const { code, details } = error as { code?: string; details?: { code?: string } };
  return code === "config-conflict" || details?.code === "CONFLICT";
}

/** Refuses what would take entries away unnoticed. @throws {SvcError} `config-entries-lost` */
export function guardEntries(before: unknown, after: unknown): void {
  for (const path of guardedPaths) {
    const lost = lostEntries(valueAt(before, path), valueAt(after, path));
    if (lost.length > 0) throw sharedErrors.configEntriesLost({ path: path.join("."), lost: lost.join(", "), advice: "add --replace" });
  }
}

/** With `--url` only what the gateway shows is known; its placeholders stand for the values it has. */
async function editRemote(cli: CliContext, edit: ConfigEdit): Promise<number> {
  const { parsed, hash, path } = await cli.withClient((client) => client.request("config.get", {}));
  const after = edit.apply(parsed);
  if (sameValue(parsed, after)) return report(cli, { file: path, changedPaths: [], changed: false, text: "No change." });
  return viaGateway(cli, { before: parsed, after, baseHash: hash });
}

async function viaGateway(cli: CliContext, change: { before: unknown; after: unknown; baseHash: string }): Promise<number> {
  const { patch, replacePaths } = createMergePatch(change.before, change.after);
  const params = { raw: JSON.stringify(patch), baseHash: change.baseHash, ...(replacePaths.length > 0 ? { replacePaths } : {}) };
  const result = await cli.withClient((client) => client.request("config.patch", params));
  if (result.issues) {
    const reason = result.issues.map(({ path, message }) => `${path}: ${message}`).join("; ");
    throw commonErrors.failed({
      message: `${basename(result.path)} is written, but the running gateway did not take it over: ${reason}`,
    });
  }
  const { path: file, changedPaths, action, pendingRestart } = result;
  return report(cli, { file, changedPaths, changed: result.noop !== true, action, pendingRestart, text: closingNote(result) });
}

function isAuthChanged(error: unknown): boolean {
  const { code, details } = error as { code?: string; details?: { closeCode?: number } };
  return code === "connection-closed" && details?.closeCode === AUTH_CHANGED;
}

function wouldChange(file: string, paths: readonly string[]): string {
  return `Would change ${file}${paths.length > 0 ? `: ${paths.join(", ")}` : " (only how it is written: every value in force stays the same)"}`;
}

interface Report {
  text: string;
  changed: boolean;
  file: string;
  changedPaths: string[];
  dryRun?: boolean;
  action?: string;
  pendingRestart?: string[];
}

function report(cli: CliContext, { text, ...done }: Report): number {
  if (cli.json) cli.stdout.json({ ok: true, ...done, message: text });
  else cli.stdout.line(text);
  return 0;
}
