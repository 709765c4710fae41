import { createHash } from "node:crypto";
import { commonErrors, isSvcError, settledWithin } from "svc/sdk";
import { openContained, partsBelow, replaceContained, shownPath } from "svc/sdk/internal";
import { memoryErrors } from "./errors.ts";
import type { MemoryService } from "./service.ts";

/** Longer notes are neither read for editing nor written. */
export const MAX_NOTE_CHARS = 1_048_576;
const MAX_NOTE_BYTES = 4 * 1024 * 1024;
/** Wait for the index; the note is on disk anyhow, and a later sync finds it. */
const INDEX_MS = 5_000;

/** A note of a workspace as it stands on the disk. */
export interface NoteFile {
  path: string;
  /** Not there. */
  missing: boolean;
  /** Bytes. */
  size?: number;
  updatedAtMs?: number;
  /** SHA-256 of the bytes, hex. */
  hash?: string;
  content?: string;
}

/** Parts of the memory that a writer of notes needs. */
export interface NoteHost {
  /** @throws {SvcError} `unknown-agent`, `memory-disabled`, `memory-store-shared` */
  workspaceOf(agentId: string): string;
  sync(agentId: string, signal: AbortSignal): Promise<{ joined: boolean }>;
}

export function createNoteHost(memory: MemoryService): NoteHost {
  return {
    workspaceOf(agentId) {
      memory.requireUsable(agentId);
      const agent = memory.agents.find(({ settings }) => settings.agentId === agentId);
      if (!agent) throw commonErrors.unknownAgent({ agentId });
      return agent.settings.index.workspace;
    },
    sync: (agentId, signal) => memory.sync(agentId, { reason: "note", signal }),
  };
}

/** True for `MEMORY.md` and for Markdown files below `memory/` with names that are neither hidden nor unprintable. */
export function isNote(parts: readonly string[]): boolean {
  if (parts.some((part) => part.startsWith(".") || /[\p{Cc}\p{Zl}\p{Zp}]/u.test(part))) return false;
  return parts.length === 1 ? parts[0] === "MEMORY.md" : parts[0] === "memory" && /\.md$/i.test(parts.at(-1) ?? "");
}

/**
 * Reads a note whole, with the hash that a writer of it needs.
 * @throws {SvcError} `memory-note-path`, `memory-note-unusable`
 */
export async function readNote(workspace: string, path: string): Promise<NoteFile> {
  const parts = notePartsOf(workspace, path);
  const name = parts.join("/");
  try {
    const file = await openContained(workspace, parts, { maxBytes: MAX_NOTE_BYTES });
    try {
      const { mtimeMs } = await file.stat();
      const bytes = await file.readFile();
      const facts = { size: bytes.length, updatedAtMs: Math.round(mtimeMs), hash: hashOf(bytes) };
      return { path: name, missing: false, ...facts, content: textOf(bytes, name) };
    } finally {
      await file.close();
    }
  } catch (error) {
    if (isMissing(error)) return { path: name, missing: true };
    throw unusable(error);
  }
}

/**
 * Replaces a note as a whole, or makes it.
 * @param note.expectedHash of the state that the new text was made from; null: there is no such note yet
 * @throws {SvcError} `memory-note-path`, `memory-note-unusable`, `memory-note-conflict` when the file is another one by now
 */
export async function writeNote(
  workspace: string,
  { path, content, expectedHash }: { path: string; content: string; expectedHash: string | null },
): Promise<NoteFile> {
  const parts = notePartsOf(workspace, path);
  const name = parts.join("/");
  const expected = expectedHash?.toLowerCase() ?? null;
  const bytes = Buffer.from(content);
  try {
    const hash = await replaceContained(workspace, parts, (before) => {
      const currentHash = before?.hash ?? null;
      if (currentHash !== expected) throw memoryErrors.memoryNoteConflict({ path: name, type: "memory_note_conflict", currentHash });
      return bytes;
    });
    return { path: name, missing: false, size: bytes.length, hash };
  } catch (error) {
    throw unusable(error);
  }
}

/** Brings the index up to date with a note that was just written; false when that takes longer than a writer should wait, or fails. */
export async function indexedSoon(host: NoteHost, { agentId, signal }: { agentId: string; signal: AbortSignal }): Promise<boolean> {
  let isIndexed = false;
  const indexed = async () => {
    const { joined } = await host.sync(agentId, signal);
    // A sync that began before the note was written may have passed its file already: then once more.
    if (joined) await host.sync(agentId, signal);
    isIndexed = true;
  };
  await settledWithin(indexed(), INDEX_MS);
  return isIndexed;
}

function notePartsOf(workspace: string, path: string): string[] {
  let parts: string[];
  try {
    parts = partsBelow(workspace, path);
  } catch (cause) {
    throw memoryErrors.memoryNotePath({ path: shownPath(path) }, { cause });
  }
  if (!isNote(parts)) throw memoryErrors.memoryNotePath({ path: shownPath(path) });
  return parts;
}

/** Exact, or a writer of it would change what was not touched. */
function textOf(bytes: Buffer, path: string): string {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw memoryErrors.memoryNoteUnusable({ path, reason: "is not UTF-8 text; edit it in its folder" }, { cause });
  }
  if (text.length <= MAX_NOTE_CHARS) return text;
  throw memoryErrors.memoryNoteUnusable({
    path,
    reason: `has ${text.length} characters; edit what is longer than ${MAX_NOTE_CHARS} in its folder`,
  });
}

function isMissing(error: unknown): boolean {
  return isSvcError(error, "unsafe-file") && (error.cause as NodeJS.ErrnoException | undefined)?.code === "ENOENT";
}

function unusable(error: unknown): unknown {
  if (!isSvcError(error, "unsafe-file")) return error;
  return memoryErrors.memoryNoteUnusable({ path: error.fields.path, reason: error.fields.reason }, { cause: error });
}

function hashOf(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}
