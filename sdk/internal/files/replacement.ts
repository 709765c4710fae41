import { lstat, mkdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { reached } from "../../failpoint.ts";
import { syncFolder, writeFileAtomic } from "../../files.ts";
import { isRecord } from "../../is-record.ts";
import { readRegularFile } from "./read-regular.ts";

/** One file or folder that takes the place of another one. Absolute paths, all three on one file system. */
export interface Move {
  /** The new one; absent: the place becomes empty. */
  from?: string;
  to: string;
  /** Where what was in the place goes. */
  aside: string;
}

/** Moves that belong together. */
export interface Replacement {
  moves: readonly Move[];
  /** Folders that are removed when all is done. */
  cleanUp: readonly string[];
}

const MAX_BYTES = 4_194_304;

/** The record of a replacement that has begun. */
export function replacementPath(stateDir: string): string {
  return join(stateDir, "gateway", "replacement.json");
}

/**
 * Replaces several files and folders together: the moves are recorded first, so that a process that ends in between leaves them to whoever comes next
 * (`continueReplacement`). What is to take a place must be on disk already. The state lock must be held.
 */
export async function replaceTogether(stateDir: string, replacement: Replacement): Promise<void> {
  await writeFileAtomic(replacementPath(stateDir), JSON.stringify({ version: 1, ...replacement }), { family: "replacement" });
  await applyMoves(stateDir, replacement);
}

/**
 * Completes a replacement that was cut off. The state lock must be held.
 * @returns whether there was one
 * @throws {Error} of the system when a move is not possible; with another name when the record cannot be read
 */
export async function continueReplacement(stateDir: string): Promise<boolean> {
  const replacement = await readReplacement(stateDir);
  if (replacement === undefined) return false;
  await applyMoves(stateDir, replacement);
  return true;
}

/** Whether a replacement was cut off. */
export async function hasReplacement(stateDir: string): Promise<boolean> {
  return isThere(replacementPath(stateDir));
}

async function applyMoves(stateDir: string, { moves, cleanUp }: Replacement): Promise<void> {
  for (const move of moves) {
    await makeMove(move);
    await reached("replacement.after-move");
  }
  for (const folder of new Set(moves.flatMap(({ to, aside }) => [dirname(to), dirname(aside)]))) {
    if (await isThere(folder)) await syncFolder(folder);
  }
  await reached("replacement.before-end");
  for (const folder of cleanUp) await rm(folder, { recursive: true, force: true });
  await rm(replacementPath(stateDir), { force: true });
  await syncFolder(dirname(replacementPath(stateDir)));
}

/** Each of its two renames is skipped when it was done before. */
async function makeMove({ from, to, aside }: Move): Promise<void> {
  const isDone = from === undefined ? await isThere(aside) : !(await isThere(from));
  if (isDone) return;
  if (await isThere(to)) {
    await mkdir(dirname(aside), { recursive: true, mode: 0o700 });
    await rename(to, await freeName(aside));
    await reached("replacement.between-renames");
  }
  if (from === undefined) return;
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  await rename(from, to);
}

/** After a crash somebody may have made a file in a place that was empty for a moment; nothing is overwritten. */
async function freeName(aside: string): Promise<string> {
  for (let n = 1; n < 100; n += 1) {
    const name = n === 1 ? aside : `${aside}.${n}`;
    if (!(await isThere(name))) return name;
  }
  throw new Error(`${aside} exists in a hundred versions`);
}

async function readReplacement(stateDir: string): Promise<Replacement | undefined> {
  let text: string;
  try {
    text = String(await readRegularFile(replacementPath(stateDir), { maxBytes: MAX_BYTES, followLink: false }));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  const { moves, cleanUp } = JSON.parse(text) as { moves?: unknown; cleanUp?: unknown };
  const isWhole =
    Array.isArray(moves) && moves.every(isMove) && Array.isArray(cleanUp) && cleanUp.every((path) => typeof path === "string");
  if (!isWhole) throw new Error(`${replacementPath(stateDir)} is damaged`);
  return { moves, cleanUp };
}

function isMove(value: unknown): value is Move {
  if (!isRecord(value)) return false;
  const { from, to, aside } = value;
  return typeof to === "string" && typeof aside === "string" && (from === undefined || typeof from === "string");
}

async function isThere(path: string): Promise<boolean> {
  // Not through a link: one that leads nowhere is there, too.
  return lstat(path).then(
    () => true,
    () => false,
  );
}
