import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { storeErrors } from "../errors.ts";
import { type BackupManifest, maxFiles } from "./manifest.ts";

/** One file of the state directory that goes into a backup. */
export interface SourceFile {
  /** Absolute. */
  from: string;
  /** Below the state directory, with `/`. */
  path: string;
}

type LeftOut = BackupManifest["leftOut"];

/** Folders of the state directory that are copied with all that is in them. */
const copied = /^(workspace|workspace-.+|hooks|plugin-data|plugins|agents|logs)$/;
/** Entries for somebody who may read secrets. */
const secret = new Set([".env", "identity"]);
/** Entries of the process that runs, and copies of the state that this one takes the place of. */
const ownBusiness = /^(gateway|service|state\.sqlite.*|svc\.json.*|gateway\.[0-9a-f]{8}\.lock.*|\.restore-.*|before-restore-.*)$/;
/** By such a file in a workspace a gateway that runs tells others that it is there; in a copy it would say so of a gateway that never was. */
const claim = /^\.svc-gateway\.[0-9a-f]{8}\.lock$/;

const reasons: ReadonlyArray<readonly [RegExp, string]> = [
  [/^memory$/, "the index is made from the notes; it is built again"],
  [/^vendor$/, "packages are installed again: svc plugins add-packages"],
  [/^cache$/, "it is made again when it is needed"],
  [/^gateway\.cmd$/, "it belongs to this machine: svc gateway install"],
  [/^trash$/, "it was deleted"],
];

/** Decides about an entry of the state directory: copied, not mentioned (it is nobody's loss), or left out for a reason. Pure. */
export function judgeEntry(name: string, withSecrets: boolean): "copy" | "pass" | { reason: string } {
  if (copied.test(name)) return "copy";
  if (secret.has(name)) return withSecrets ? "copy" : { reason: "it holds secrets: --with-secrets" };
  if (ownBusiness.test(name)) return "pass";
  return { reason: reasons.find(([pattern]) => pattern.test(name))?.[1] ?? "it is no part of the state that svc knows" };
}

/** Whether a restore sets an entry of the state directory aside. Pure. */
export function isReplaced(name: string, withSecrets: boolean): boolean {
  if (/^(state\.sqlite|svc\.json)/.test(name) || name === "memory") return true;
  return judgeEntry(name, withSecrets) === "copy";
}

/** Whether an entry shows that somebody works with this state directory; a start that was refused leaves a log, too. */
export function isOccupying(name: string): boolean {
  return name !== "logs" && isReplaced(name, false);
}

/**
 * Lists the files of a state directory that a backup takes. Links are not followed.
 * @throws {SvcError} `backup-too-large`
 */
export async function listState(
  stateDir: string,
  { withSecrets, signal }: { withSecrets: boolean; signal: AbortSignal },
): Promise<{ files: SourceFile[]; leftOut: LeftOut }> {
  const found = { files: [] as SourceFile[], leftOut: [] as LeftOut };
  for (const entry of await entriesOf(stateDir)) {
    const verdict = judgeEntry(entry.name, withSecrets);
    if (verdict === "copy") await walk({ ...found, stateDir, signal }, entry, "");
    else if (verdict !== "pass") found.leftOut.push({ path: entry.name, ...verdict });
  }
  return found;
}

interface Walk {
  stateDir: string;
  files: SourceFile[];
  leftOut: LeftOut;
  signal: AbortSignal;
}

async function walk(state: Walk, entry: Dirent, above: string): Promise<void> {
  const { stateDir, files, leftOut, signal } = state;
  signal.throwIfAborted();
  if (claim.test(entry.name)) return;
  const path = above === "" ? entry.name : `${above}/${entry.name}`;
  if (/^agents\/[^/]+\/sidecar$/.test(path))
    return void leftOut.push({ path, reason: "the index is made from the notes; it is built again" });
  if (entry.isDirectory()) {
    for (const inner of await entriesOf(join(stateDir, path))) await walk(state, inner, path);
    return;
  }
  if (!entry.isFile()) {
    const reason = entry.isSymbolicLink() ? "a link is not followed" : "it is no regular file";
    if (leftOut.length < maxLeftOut) leftOut.push({ path, reason });
    return;
  }
  if (files.length >= maxFiles) throw storeErrors.backupTooLarge({ files: maxFiles, path: above });
  files.push({ from: join(stateDir, path), path });
}

/** More are counted by nobody: the list is for people. */
const maxLeftOut = 1_000;

async function entriesOf(folder: string): Promise<Dirent[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    // Removed between two looks.
    if (error.code === "ENOENT") return [];
    throw error;
  });
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}
