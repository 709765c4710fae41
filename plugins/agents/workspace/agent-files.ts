import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readlink, realpath } from "node:fs/promises";
import { join } from "node:path";
import { type AgentInfo, isSvcError, writeFileAtomic } from "svc/sdk";
import { openRegular } from "svc/sdk/internal";
import { agentErrors } from "../errors.ts";

/** The files of a workspace that clients may read and write; no other name leads anywhere. */
export const agentFileNames = [
  "AGENTS.md",
  "SOUL.md",
  "TOOLS.md",
  "IDENTITY.md",
  "USER.md",
  "HEARTBEAT.md",
  "BOOTSTRAP.md",
  "MEMORY.md",
] as const;

/** Larger files are not read; what may be written is always smaller. */
const MAX_BYTES = 4 * 1024 * 1024;

export interface AgentFileRow {
  name: string;
  /** Absolute. */
  path: string;
  /** Not there, or something else than a plain file. */
  missing: boolean;
  size?: number;
  updatedAtMs?: number;
}

export interface AgentFile extends AgentFileRow {
  /** SHA-256 of the bytes, hex. */
  hash?: string;
  content?: string;
}

/** Every file, there or not. */
export async function listAgentFiles({ workspace }: AgentInfo): Promise<AgentFileRow[]> {
  return Promise.all(
    agentFileNames.map(async (name) => {
      const path = join(workspace, name);
      const found = await lstat(path).catch(() => undefined);
      if (!found?.isFile()) return { name, path, missing: true };
      return { name, path, missing: false, size: found.size, updatedAtMs: Math.round(found.mtimeMs) };
    }),
  );
}

/** @throws {SvcError} `agent-file-unsupported`, `agent-file-unsafe` */
export async function readAgentFile(agent: AgentInfo, name: string): Promise<AgentFile> {
  checkName(name);
  const place = await openWorkspace(agent.workspace);
  try {
    const path = join(agent.workspace, name);
    const read = place && (await readPlain(place, name, agent.id));
    return toFile({ name, path }, read);
  } finally {
    await place?.close();
  }
}

/**
 * Replaces a file as a whole; readers see the old bytes or the new ones. Calls about one workspace must not overlap.
 * @throws {SvcError} `agent-file-unsupported`, `agent-file-unsafe`, `agent-file-conflict` when the file is not the one of `expectedHash` any more
 */
export async function writeAgentFile(
  agent: AgentInfo,
  { name, content, expectedHash }: { name: string; content: string; expectedHash?: string | undefined },
): Promise<AgentFile> {
  checkName(name);
  await mkdir(agent.workspace, { recursive: true, mode: 0o700 });
  const place = await openWorkspace(agent.workspace);
  if (!place) throw agentErrors.agentFileUnsafe({ name, agentId: agent.id, reason: "the workspace is no folder" });
  try {
    const isCurrent = async () => {
      const now = await readPlain(place, name, agent.id, { write: true });
      if (expectedHash !== undefined && now?.hash !== expectedHash.toLowerCase()) {
        throw agentErrors.agentFileConflict({ name, type: "agent_file_conflict", currentHash: now?.hash ?? null });
      }
      return now;
    };
    const before = await isCurrent();
    const options = { mode: before?.mode ?? 0o600, beforeRename: async () => void (await isCurrent()) };
    await writeFileAtomic(place.pathOf(name), content, options);
    const after = await readPlain(place, name, agent.id);
    return toFile({ name, path: join(agent.workspace, name) }, after);
  } finally {
    await place.close();
  }
}

function toFile(named: { name: string; path: string }, plain: Plain | undefined): AgentFile {
  if (!plain) return { ...named, missing: true };
  const { size, updatedAtMs, hash, content } = plain;
  return { ...named, missing: false, size, updatedAtMs, hash, content };
}

function checkName(name: string): void {
  if (!agentFileNames.some((known) => known === name)) throw agentErrors.agentFileUnsupported({ name: name.slice(0, 64) });
}

/** A workspace that is held open: whatever its name means a moment later, files are reached through what was opened. */
interface Place {
  pathOf(name: string): string;
  /** Folder that a file must stand in where it cannot be reached through the open one. */
  root: string;
  close(): Promise<void>;
}

/** Undefined when there is no such folder. */
async function openWorkspace(workspace: string): Promise<Place | undefined> {
  const real = await realpath(workspace).catch(() => undefined);
  if (real === undefined) return undefined;
  const { O_RDONLY, O_DIRECTORY = 0, O_NOFOLLOW = 0 } = constants;
  const handle = await open(real, O_RDONLY | O_DIRECTORY | O_NOFOLLOW).catch(() => undefined);
  if (!handle) return undefined;
  const held = await heldPath(handle, real);
  return { pathOf: (name) => join(held, name), root: real, close: () => handle.close() };
}

/** Linux lets a path begin at an open folder; elsewhere its name has to do, and what is opened is looked at afterwards. */
async function heldPath(handle: FileHandle, real: string): Promise<string> {
  const held = `/proc/self/fd/${handle.fd}`;
  return (await readlink(held).catch(() => undefined)) === real ? held : real;
}

type Plain = { size: number; updatedAtMs: number; hash: string; content: string; mode: number };

/** Undefined when there is no such file. `write`: one that other names lead to as well is refused. */
async function readPlain(
  place: Place,
  name: string,
  agentId: string,
  { write = false }: { write?: boolean } = {},
): Promise<Plain | undefined> {
  try {
    const file = await openRegular(place.pathOf(name), { root: place.root, maxBytes: MAX_BYTES, write });
    try {
      const { mtimeMs, mode } = await file.stat();
      const bytes = await file.readFile();
      const hash = createHash("sha256").update(bytes).digest("hex");
      return { size: bytes.length, updatedAtMs: Math.round(mtimeMs), hash, content: bytes.toString("utf8"), mode: mode & 0o777 };
    } finally {
      await file.close();
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    if (isSvcError(error, "unsafe-file"))
      throw agentErrors.agentFileUnsafe({ name, agentId, reason: error.fields.reason }, { cause: error });
    throw error;
  }
}
