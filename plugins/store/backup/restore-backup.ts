import { chmod, lstat, mkdir, readdir, readFile, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { messageOf, writeFileAtomic } from "svc/sdk";
import { hasReplacement, isAlive, isInside, type Move, processStartTime, reached, replaceTogether, syncFolder } from "svc/sdk/internal";
import { storeErrors } from "../errors.ts";
import { schemaSteps } from "../schema.ts";
import { isOccupying, isReplaced } from "./contents.ts";
import { copyFile } from "./copy-file.ts";
import { requireRoom } from "./free-space.ts";
import type { BackupManifest } from "./manifest.ts";
import { verifyBackup } from "./verify.ts";

/** Where a backup is restored to. */
export interface RestoreTarget {
  stateDir: string;
  configPath: string;
  /** See `CliConfigFile.refilled`. */
  refill(text: string, present: string | undefined): { text: string; missing: string[] };
  /** Runs while no gateway can start. */
  holdState<T>(work: () => Promise<T>): Promise<T>;
}

export interface RestoreOptions {
  /** Sets aside what is there. */
  replace: boolean;
  signal: AbortSignal;
  /** Epoch ms, for the names of what is set aside. */
  now: number;
}

/** Result of a restore. */
export interface RestoreReport {
  manifest: BackupManifest;
  /** Where what was there before is now, absolute; none when there was nothing. */
  setAside: string[];
  /** Paths in the config whose secrets nobody knows: to be set again. */
  missingSecrets: string[];
}

const STAGE = ".restore-";

/** @throws {SvcError} what `restoreBackup` throws before it changes anything and without the lock */
export async function checkRestore(dir: string, target: RestoreTarget, { replace, signal }: RestoreOptions): Promise<BackupManifest> {
  const { manifest, problems } = await verifyBackup(dir, signal);
  const [first] = problems;
  if (first) throw storeErrors.backupDamaged({ dir, count: problems.length, path: first.path, problem: first.problem });
  const known = schemaSteps.length;
  const needed = manifest.database?.minReader ?? 0;
  if (needed > known) throw storeErrors.backupTooNew({ dir, found: `schema ${needed}`, known: `schema ${known}`, version: manifest.svc });
  const occupying = await occupyingEntries(target);
  if (occupying.length > 0 && !replace)
    throw storeErrors.restoreOccupied({ stateDir: target.stateDir, found: occupying.slice(0, 5).join(", ") });
  return manifest;
}

/**
 * Puts a backup in the place of the state of a profile. Everything is copied beside it first and brought to disk; then old and new change places in one
 * recorded replacement, which the next start completes if this process ends in between. What was there is kept.
 * @throws {SvcError} `backup-damaged`, `backup-too-new`, `backup-unreadable`, `restore-occupied`, `restore-mount`, `backup-no-room`, `lock-held`
 */
export async function restoreBackup(dir: string, target: RestoreTarget, options: RestoreOptions): Promise<RestoreReport> {
  const manifest = await checkRestore(dir, target, options);
  await reached("restore.after-verify");
  const { stateDir } = target;
  await mkdir(stateDir, { recursive: true, mode: 0o700 });
  return target.holdState(async () => {
    await removeStages([stateDir, dirname(target.configPath)]);
    const bytes = manifest.files.reduce((sum, file) => sum + file.bytes, 0);
    await requireRoom(stateDir, bytes);
    const stage = join(stateDir, `${STAGE}${process.pid}-${processStartTime(process.pid) ?? "0"}`);
    const configStage = isInside(stateDir, target.configPath) ? stage : join(dirname(target.configPath), basename(stage));
    try {
      const staged = await fillStages(dir, { manifest, target, stage, configStage, signal: options.signal });
      await reached("restore.after-stage");
      const moves = await movesOf({ manifest, target, stage, configStage, now: options.now });
      options.signal.throwIfAborted();
      await replaceTogether(stateDir, { moves, cleanUp: [...new Set([stage, configStage])] });
      return { manifest, missingSecrets: staged.missing, setAside: await thereOf(moves.map(({ aside }) => aside)) };
    } finally {
      // One that was recorded needs them: the next start goes on with it.
      if (!(await hasReplacement(stateDir))) await removeStages([stateDir, dirname(target.configPath)], true);
    }
  });
}

interface Stages {
  manifest: BackupManifest;
  target: RestoreTarget;
  /** Folder below the state directory for what goes there. */
  stage: string;
  /** The same for the config; another one when that lies elsewhere, perhaps on another file system. */
  configStage: string;
}

async function fillStages(
  dir: string,
  { manifest, target, stage, configStage, signal }: Stages & { signal: AbortSignal },
): Promise<{ missing: string[] }> {
  const missing: string[] = [];
  for (const file of manifest.files) {
    const to = join(file.path.startsWith("config/") ? configStage : stage, ...file.path.split("/"));
    const copied = await copyFile(join(dir, ...file.path.split("/")), to, { signal });
    if (copied.sha256 !== file.sha256) throw storeErrors.backupDamaged({ dir, count: 1, path: file.path, problem: "it changed meanwhile" });
    if (file.path.startsWith("config/") && !manifest.withSecrets)
      missing.push(...(await refillConfig(to, placeOf(file.path, manifest, target.configPath), target.refill)));
    await bringMode(to, file.mode);
  }
  for (const folder of new Set([stage, configStage])) await syncFolders(folder);
  return { missing };
}

/** Only the owner gets any rights, whatever the backup says; a program stays one. */
async function bringMode(path: string, mode: number): Promise<void> {
  if (process.platform === "win32") return;
  await chmod(path, (mode & 0o700) | 0o600);
}

/** A config without secrets gets those that the present one has in the same places. */
async function refillConfig(staged: string, place: string, refill: RestoreTarget["refill"]): Promise<string[]> {
  const present = await readFile(place, "utf8").catch(() => undefined);
  const { text, missing } = refill(await readFile(staged, "utf8"), present);
  await writeFileAtomic(staged, text);
  return missing;
}

/** Place of a file of the config: the main one goes by the name that it has here. */
function placeOf(path: string, { config }: BackupManifest, configPath: string): string {
  return path === `config/${config}` ? configPath : join(dirname(configPath), ...path.split("/").slice(1));
}

async function movesOf({ manifest, target, stage, configStage, now }: Stages & { now: number }): Promise<Move[]> {
  const { stateDir, configPath } = target;
  const stamp = new Date(now).toISOString().replace(/[-:]|\.\d+/g, "");
  const asideIn = (folder: string) => join(folder, `before-restore-${stamp}`);
  const staged = (await readdir(join(stage, "state")).catch(() => [])) as string[];
  const present = (await readdir(stateDir)).filter((name) => isReplaced(name, manifest.withSecrets));
  const names = [...new Set([...present, ...staged])];
  const state = names.map(
    (name): Move => ({
      ...(staged.includes(name) ? { from: join(stage, "state", name) } : {}),
      to: join(stateDir, name),
      aside: join(asideIn(stateDir), name),
    }),
  );
  const config = manifest.files
    .filter(({ path }) => path.startsWith("config/"))
    .map(({ path }): Move => {
      const to = placeOf(path, manifest, configPath);
      return { from: join(configStage, ...path.split("/")), to, aside: join(asideIn(dirname(configPath)), ...path.split("/").slice(1)) };
    });
  const configPlaces = new Set(config.map(({ to }) => to));
  const moves = [...state.filter(({ to }) => !configPlaces.has(to)), ...config];
  await requireOneFileSystem(moves, stateDir, dirname(configPath));
  return moves;
}

/** Refuses mounts: they cannot be moved. @throws {SvcError} `restore-mount` */
async function requireOneFileSystem(moves: readonly Move[], ...roots: string[]): Promise<void> {
  const devices = new Set<number>();
  for (const root of roots) devices.add((await lstat(root).catch(() => undefined))?.dev ?? -1);
  for (const { to } of moves) {
    const found = await lstat(to).catch(() => undefined);
    if (found && !devices.has(found.dev)) throw storeErrors.restoreMount({ path: to });
  }
}

async function occupyingEntries({ stateDir, configPath }: RestoreTarget): Promise<string[]> {
  const names = (await readdir(stateDir).catch(() => [])) as string[];
  const config = (await lstat(configPath).catch(() => undefined)) ? [configPath] : [];
  return [...names.filter(isOccupying), ...config.filter((path) => dirname(path) !== stateDir)];
}

async function thereOf(paths: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const path of paths) if (await lstat(path).catch(() => undefined)) found.push(path);
  return found;
}

/** Removes copies that nobody finishes: of processes that are gone, and of this one when it is done. */
async function removeStages(folders: readonly string[], own = false): Promise<void> {
  for (const folder of new Set(folders)) {
    for (const name of (await readdir(folder).catch(() => [])) as string[]) {
      const [, pid, startTime] = name.startsWith(STAGE) ? (/^(\d+)-(\d+)$/.exec(name.slice(STAGE.length)) ?? []) : [];
      if (pid === undefined) continue;
      const isOurs = Number(pid) === process.pid;
      if (isOurs ? !own : isAlive({ pid: Number(pid), startTime: startTime ?? null, createdAt: 0 })) continue;
      await rm(join(folder, name), { recursive: true, force: true });
    }
  }
}

async function syncFolders(folder: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new Error(messageOf(error), { cause: error });
  });
  if (!entries) return;
  for (const entry of entries) if (entry.isDirectory()) await syncFolders(join(folder, entry.name));
  await syncFolder(folder);
}
