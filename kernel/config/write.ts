import { randomBytes } from "node:crypto";
import { realpath, stat } from "node:fs/promises";
import { basename } from "node:path";
import { formatIssue } from "../../sdk/config/config-issue.ts";
import { ownValue } from "../../sdk/config/tree.ts";
import { isSvcError, messageOf, type SvcError } from "../../sdk/errors.ts";
import { reached } from "../../sdk/failpoint.ts";
import { writeFileAtomic } from "../../sdk/files.ts";
import { isRecord } from "../../sdk/is-record.ts";
import type { ConfigChange, ConfigWarning, ConfigWriteOptions, ConfigWriteOutcome } from "../../sdk/types/config-file.ts";
import { keepRejected, removeOrphans, rotateBackups } from "./backups.ts";
import { type LockTimes, withConfigLock } from "./config-lock.ts";
import { diffConfig } from "./diff.ts";
import { editText, freshText } from "./edit-text.ts";
import { configErrors } from "./errors.ts";
import type { LoadedConfig } from "./loaded.ts";
import { ownedEdit } from "./owned-edit.ts";
import { parseJson5 } from "./parse-json5.ts";
import type { RedactOptions } from "./redact.ts";
import { restoreRedacted } from "./restore.ts";
import { newlyUnserved } from "./unserved.ts";

/** Dependencies of the writers of one config file. */
export interface ConfigWriterHost {
  /** Absolute, as named; a link is followed when the file is replaced. */
  path: string;
  /** `SVC_CONFIG_READONLY=1`. */
  readonly: boolean;
  /** Reads the file anew, with these texts in place of files, by absolute path. */
  load(overlay?: ReadonlyMap<string, string>): Promise<LoadedConfig>;
  /** Checks a candidate beyond `load`: rules of plugins about their own config. */
  check?(candidate: LoadedConfig, before: LoadedConfig): Promise<Array<{ path: string; message: string }>>;
  /** Settings of a config that cannot be meant although a gateway starts with them; a check refuses those that a candidate brings. */
  issues?(loaded: LoadedConfig): Promise<ConfigWarning[]>;
  /** Settings that deserve a word and stop nothing. */
  warnings?(loaded: LoadedConfig): Promise<ConfigWarning[]>;
  redaction?: () => RedactOptions;
  lockTimes?: LockTimes;
}

/** Result of a write, or of its trial, with all that was read. */
export interface WriteOutcome extends ConfigWriteOutcome {
  before: LoadedConfig;
  after: LoadedConfig;
}

/**
 * The one way in which a config file is changed: lock, read again, compare `baseHash`, change the authored text, guard against accidents,
 * validate the whole candidate, write it beside the file, keep a backup, rename.
 * @throws {SvcError} `config-readonly`, `config-locked`, `config-hash-required`, `config-conflict`, `config-parse`, `config-rejected`,
 *   `config-placeholder`, `config-clobber`, `config-owned-elsewhere`, `config-write-failed`, and what `apply` throws
 */
export async function writeConfig(host: ConfigWriterHost, change: ConfigChange, options: ConfigWriteOptions = {}): Promise<WriteOutcome> {
  if (host.readonly) throw configErrors.configReadonly({ file: basename(host.path) });
  if (options.dryRun) return (await planWrite(host, change, options)).outcome;
  return locked(host, async (own) => {
    await removeOrphans(own);
    const { outcome, text } = await planWrite(host, change, options);
    if (!outcome.changed) return outcome;
    for (const warning of outcome.warnings) options.onWarning?.(warning);
    await replaceFile(outcome.file, text);
    return outcome;
  });
}

/** Work on the config file that no other writer may come between; it gets the file's own path, links followed. */
export async function locked<T>(host: ConfigWriterHost, work: (file: string) => Promise<T>): Promise<T> {
  let isDone = false;
  try {
    const result = await withConfigLock(
      host.path,
      async (file) => {
        await reached("config.after-lock");
        const made = await work(file);
        isDone = true;
        return made;
      },
      host.lockTimes,
    );
    await reached("config.before-reply");
    return result;
  } catch (error) {
    throw isSvcError(error) ? error : writeFailed(host.path, error, isDone ? "the new file is in place" : "the file is as it was");
  }
}

/** Replaces a file or the target of a link, with a backup beside the named path. */
export async function replaceFile(path: string, content: string | Uint8Array): Promise<void> {
  const target = await realpath(path).catch(() => path);
  const old = await stat(target).catch(() => undefined);
  let backedUp = false;
  try {
    await writeFileAtomic(target, content, {
      family: "config",
      temp: `${basename(target)}.tmp-${process.pid}-${randomBytes(4).toString("hex")}`,
      mode: old ? old.mode & 0o600 || 0o600 : 0o600,
      ...(old && process.getuid?.() === 0 ? { owner: { uid: old.uid, gid: old.gid } } : {}),
      async beforeRename() {
        await rotateBackups(path);
        backedUp = true;
        await reached("config.after-backup");
      },
    });
  } catch (error) {
    const now = await stat(target).catch(() => undefined);
    const isReplaced = backedUp && now?.ino !== old?.ino;
    throw writeFailed(path, error, isReplaced ? "the new file is in place but may not survive a power cut" : "the file is as it was");
  }
}

const reasons: Record<string, string> = {
  ENOSPC: "the disk is full (ENOSPC)",
  EDQUOT: "the disk quota is used up (EDQUOT)",
  EROFS: "the file system is read-only (EROFS)",
  EACCES: "this user may not write there (EACCES)",
  EPERM: "this user may not write there (EPERM)",
  EIO: "the disk reports an error (EIO)",
};

function writeFailed(path: string, error: unknown, state: string): SvcError {
  const { code } = error as NodeJS.ErrnoException;
  return configErrors.configWriteFailed({ file: basename(path), reason: reasons[code ?? ""] ?? messageOf(error), state }, { cause: error });
}

interface WritePlan {
  outcome: WriteOutcome;
  /** Text of the whole file, byte order mark included. */
  text: string;
}

async function planWrite(host: ConfigWriterHost, change: ConfigChange, options: ConfigWriteOptions): Promise<WritePlan> {
  const before = await host.load();
  if (options.requireHash && before.exists && options.baseHash === undefined) throw configErrors.configHashRequired();
  if (options.baseHash !== undefined && options.baseHash !== before.hash) throw configErrors.configConflict({ currentHash: before.hash });
  const draft = change.kind === "edit" ? editDraft(host, before, change) : replaceDraft(host, before, change);
  const outcome = {
    changed: true,
    file: draft?.file ?? before.path,
    before,
    after: before,
    changedPaths: [],
    warnings: draft?.warnings ?? [],
  };
  if (!draft || draft.text === draft.old) return { outcome: { ...outcome, changed: false }, text: "" };
  const refused = async (error: SvcError) => {
    if (!options.dryRun || options.keepRefused) await keepRejected(before.path, draft.text);
    return error;
  };
  const after = await host.load(new Map([[draft.file, draft.text]]));
  const clobber = clobberReason(draft, before, after, options.allowDestructive);
  if (clobber) throw await refused(configErrors.configClobber({ file: basename(draft.file), ...clobber }));
  const issues = after.valid ? [...newlyUnserved(before, after), ...((await host.check?.(after, before)) ?? [])] : after.issues;
  if (issues.length > 0) throw await refused(rejected(issues, { after, isWhole: change.kind === "replace" }));
  const warnings = [...outcome.warnings, ...(await newWarnings(host, before, after))];
  return { outcome: { ...outcome, warnings, after, changedPaths: diffConfig(before.config ?? {}, after.config) }, text: draft.text };
}

/** Warnings that did not exist before the change. */
async function newWarnings(host: ConfigWriterHost, before: LoadedConfig, after: LoadedConfig): Promise<string[]> {
  const texts = async (loaded: LoadedConfig) =>
    [...loaded.warnings, ...((await host.warnings?.(loaded)) ?? [])].map(({ path, message }) => `${path}: ${message}`);
  const old = new Set(await texts(before));
  return (await texts(after)).filter((text) => !old.has(text));
}

interface Draft {
  file: string;
  /** The file as it is; undefined when there is none. */
  old: string | undefined;
  text: string;
  warnings: string[];
}

function editDraft(host: ConfigWriterHost, before: LoadedConfig, change: ConfigChange & { kind: "edit" }): Draft | undefined {
  if (before.source === undefined) {
    const issue = before.issues[0];
    throw configErrors.configParse({
      file: issue?.file ?? basename(before.path),
      line: issue?.line ?? 1,
      column: issue?.column ?? 1,
      reason: `${issue?.message ?? "cannot be read"}; repair it first`,
    });
  }
  const next = restoreRedacted(change.apply(before.source), before.source, redactionOf(host, before));
  const edit = ownedEdit(before, next);
  if (!edit) return undefined;
  const bom = edit.bom ? "\uFEFF" : "";
  const old = before.files.some((f) => f.path === edit.file) ? bom + edit.text : undefined;
  if (old === undefined) return { file: edit.file, old, text: freshText(edit.next), warnings: [] };
  const { text, lost } = editText(edit.text, { current: edit.current, next: edit.next });
  return { file: edit.file, old, text: bom + text, warnings: lost.map((path) => commentsLost(edit.file, path)) };
}

function commentsLost(file: string, path: string): string {
  return path === ""
    ? `${basename(file)} is rewritten, and its comments are lost; the old text stays in ${basename(file)}.bak`
    : `the comments inside ${path} are lost; the old text stays in ${basename(file)}.bak`;
}

function replaceDraft(host: ConfigWriterHost, before: LoadedConfig, change: ConfigChange & { kind: "replace" }): Draft {
  const main = before.files.find((f) => f.path === before.path);
  const raw = change.raw.replace(/^\uFEFF/, "");
  let current: unknown;
  try {
    current = parseJson5(raw);
  } catch (error) {
    const { lineNumber, columnNumber } = error as { lineNumber?: number; columnNumber?: number };
    const reason = messageOf(error).replace(/^JSON5: | at \d+:\d+$/g, "");
    throw configErrors.configParse({ file: basename(before.path), line: lineNumber ?? 1, column: columnNumber ?? 1, reason });
  }
  const next = restoreRedacted(current, before.authored, redactionOf(host, before));
  const { text, lost } = editText(raw, { current, next });
  const bom = main?.bom ? "\uFEFF" : "";
  const warnings = lost.map((path) => commentsLost(before.path, path));
  return { file: before.path, old: main ? bom + main.text : undefined, text: bom + text, warnings };
}

/** Redaction in force, and therefore the values a placeholder may stand for. */
export function redactionOf(host: Pick<ConfigWriterHost, "redaction">, loaded: Pick<LoadedConfig, "secrets">): RedactOptions {
  return { ...host.redaction?.(), paths: loaded.secrets.keys(), repeated: true };
}

const MIN_GUARDED_BYTES = 1_000;

type Allowed = ConfigWriteOptions["allowDestructive"];

/** The marks of an accident: a gateway that would not start again, or a file of which most is gone. */
function clobberReason(
  draft: Draft,
  before: LoadedConfig,
  after: LoadedConfig,
  allowed: Allowed,
): { reason: string; advice: string } | undefined {
  const modeOf = (source: unknown) => ownValue(ownValue(source, "gateway"), "mode");
  const dropsMode = isRecord(after.source) && modeOf(before.source) !== undefined && modeOf(after.source) === undefined;
  if (dropsMode && allowed !== "all") return { reason: "gateway.mode would be dropped", advice: "do it on this machine with --replace" };
  const [old, now] = [Buffer.byteLength(draft.old ?? ""), Buffer.byteLength(draft.text)];
  if (allowed || old <= MIN_GUARDED_BYTES || now >= old / 2) return undefined;
  return { reason: `it would shrink from ${old} to ${now} bytes`, advice: "say so with --replace, or name the lists in replacePaths" };
}

/** Every issue when there are several, with its hint. */
function withoutPlaces(issues: ReadonlyArray<{ path: string; message: string; hint?: string }>): string[] {
  return issues.flatMap(({ path, message, hint }) => [
    ...(issues.length > 1 ? [path ? `${path}: ${message}` : message] : []),
    ...(hint === undefined ? [] : [`hint: ${hint}`]),
  ]);
}

/** @param from `isWhole`: the caller sent the text itself, so places in it mean something to him; those of an edit are in no file */
function rejected(
  issues: ReadonlyArray<{ path: string; message: string; hint?: string }>,
  { after, isWhole }: { after: LoadedConfig; isWhole: boolean },
): SvcError {
  const [first] = issues;
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : "";
  const problem = `${first?.path ? `${first.path}: ` : ""}${first?.message ?? ""}${more}`;
  return configErrors.configRejected({
    problem,
    issues: issues.map(({ path, message }) => ({ path, message })),
    hint: (isWhole ? after.issues.map(formatIssue) : withoutPlaces(issues)).join("\n") || undefined,
  });
}
