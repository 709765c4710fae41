import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { lstat, mkdir, open, opendir, rm, utimes } from "node:fs/promises";
import { join } from "node:path";
import { type MemoryTranscript, oneLine, writeFileAtomic } from "svc/sdk";
import { readRegularFile } from "svc/sdk/internal";

/** Place of an export, and how long transcripts are kept in it. */
export interface ExportSettings {
  exportDir: string;
  retentionDays: number | undefined;
}

/** Reads transcripts that changed after a time, newest first. */
export type ReadTranscripts = (options: { updatedAfter?: number }) => AsyncIterable<MemoryTranscript>;

/** Files of an export after a pass. */
export interface ExportSummary {
  files: number;
  written: number;
  deleted: number;
}

const DAY_MS = 86_400_000;
/** A longer transcript is cut. */
const MAX_CHARS = 2_000_000;
const MAX_NAME_CHARS = 200;
const FIRST_LINE = "# Session ";

/**
 * Brings the folder of exported transcripts up to date: writes those that changed, deletes files whose session is gone or older than the retention.
 * Files that are no exports of ours are left alone.
 * @throws {Error} of the system when a file cannot be written
 */
export async function exportSessions(
  { exportDir, retentionDays }: ExportSettings,
  read: ReadTranscripts,
  { now, signal }: { now: number; signal: AbortSignal },
): Promise<ExportSummary> {
  await mkdir(exportDir, { recursive: true, mode: 0o700 });
  if ((await lstat(exportDir)).isSymbolicLink()) throw new Error(`${exportDir} is a symbolic link; expected a folder`);
  const living = new Set<string>();
  let written = 0;
  const since = retentionDays === undefined ? {} : { updatedAfter: now - retentionDays * DAY_MS };
  for await (const transcript of read(since)) {
    signal.throwIfAborted();
    const name = fileNameOf(transcript.sessionId);
    if (name === undefined || living.has(name)) continue;
    living.add(name);
    if (await writeTranscript(join(exportDir, name), transcript, signal)) written += 1;
  }
  return { files: living.size, written, deleted: await deleteOthers(exportDir, living) };
}

/** Name of a transcript's file; undefined for an id that is no plain name. */
export function fileNameOf(sessionId: string): string | undefined {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,120}$/.test(sessionId) ? `${sessionId}.md` : undefined;
}

/** The time of the file is that of the last change of its session, so an unchanged one is not even read. */
async function writeTranscript(path: string, { name, updatedAt, lines }: MemoryTranscript, signal: AbortSignal): Promise<boolean> {
  const present = await lstat(path).catch(() => undefined);
  if (present?.isFile() && Math.abs(present.mtimeMs - updatedAt) < 1) return false;
  const parts = [`${FIRST_LINE}${oneLine(name, MAX_NAME_CHARS)}`, ""];
  let chars = 0;
  for await (const line of lines()) {
    signal.throwIfAborted();
    chars += line.length + 1;
    if (chars > MAX_CHARS) break;
    parts.push(line);
  }
  const text = `${parts.join("\n")}\n`;
  const isSame = present?.isFile() === true && hashOf(text) === (await hashOfFile(path));
  if (!isSame) await writeFileAtomic(path, text);
  await utimes(path, updatedAt / 1_000, updatedAt / 1_000);
  return !isSame;
}

async function deleteOthers(exportDir: string, living: ReadonlySet<string>): Promise<number> {
  let deleted = 0;
  for await (const entry of await opendir(exportDir)) {
    if (!entry.isFile() || !entry.name.endsWith(".md") || living.has(entry.name)) continue;
    if (fileNameOf(entry.name.slice(0, -3)) === undefined || !(await isExport(join(exportDir, entry.name)))) continue;
    await rm(join(exportDir, entry.name), { force: true });
    deleted += 1;
  }
  return deleted;
}

/** True for a file that begins as exports do. */
async function isExport(path: string): Promise<boolean> {
  const file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)).catch(() => undefined);
  if (!file) return false;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(FIRST_LINE.length), 0, FIRST_LINE.length, 0);
    return buffer.toString("utf8", 0, bytesRead) === FIRST_LINE;
  } finally {
    await file.close();
  }
}

function hashOf(text: string | Buffer): string {
  return createHash("sha256").update(text).digest("hex");
}

async function hashOfFile(path: string): Promise<string | undefined> {
  const bytes = await readRegularFile(path, { maxBytes: 4 * MAX_CHARS, followLink: false }).catch(() => undefined);
  return bytes && hashOf(bytes);
}
