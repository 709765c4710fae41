import { mkdir, readdir, realpath, rename, rm, rmdir, stat } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import { type ConfigText, messageOf, writeFileAtomic } from "svc/sdk";
import { isAlive, isInside, processStartTime, reached, syncFolder } from "svc/sdk/internal";
import { storeErrors } from "../errors.ts";
import { listState } from "./contents.ts";
import { copyDatabase } from "./copy-database.ts";
import { copyFile, hashFile } from "./copy-file.ts";
import { requireRoom } from "./free-space.ts";
import { type BackupFile, type BackupManifest, FORMAT, MANIFEST } from "./manifest.ts";

/** The state that is copied, and by whom. */
export interface BackupSource {
  stateDir: string;
  configPath: string;
  /** Files of the config, main file first. */
  texts: readonly ConfigText[];
  /** Folders in use that are not in the state directory; only told of. */
  outside: readonly string[];
  /** Version of svc, for the manifest. */
  version: string;
}

export interface BackupOptions {
  withSecrets: boolean;
  signal: AbortSignal;
  /** Epoch ms. */
  now: number;
  /** Called as it goes on. */
  onProgress?(done: { files: number; bytes: number; what: string }): void;
}

/**
 * Copies the state of a profile into a new folder, whether a gateway runs or not. The folder appears when everything in it is on disk.
 * @throws {SvcError} `backup-target`, `backup-database`, `backup-too-large`, `backup-no-room`; the reason of the signal
 */
export async function createBackup(source: BackupSource, dir: string, options: BackupOptions): Promise<BackupManifest> {
  await requireTarget(dir, source.stateDir);
  await mkdir(dirname(dir), { recursive: true, mode: 0o700 });
  await removeLeftovers(dir);
  const temp = join(dirname(dir), `${tempPrefix(dir)}${process.pid}-${processStartTime(process.pid) ?? "0"}`);
  await mkdir(temp, { mode: 0o700 });
  try {
    const manifest = await fill(temp, source, options);
    await writeFileAtomic(join(temp, MANIFEST), `${JSON.stringify(manifest, null, 1)}\n`, { family: "backup" });
    await syncTree(temp);
    await reached("backup.before-rename");
    await rmdir(dir).catch(() => undefined);
    await rename(temp, dir);
    await syncFolder(dirname(dir));
    return manifest;
  } catch (error) {
    await rm(temp, { recursive: true, force: true });
    throw error;
  }
}

/** Files that svc appends to line by line; in those of people the last line may lack its end. */
const growing = /^(logs|plugin-data)\/.*\.jsonl$/;

async function fill(temp: string, source: BackupSource, options: BackupOptions): Promise<BackupManifest> {
  const { stateDir } = source;
  const { withSecrets, signal } = options;
  const state = await listState(stateDir, { withSecrets, signal });
  const total = await bytesOf([...state.files.map(({ from }) => from), join(stateDir, "state.sqlite"), join(stateDir, "state.sqlite-wal")]);
  await requireRoom(dirname(temp), total);
  const files: BackupFile[] = [];
  let bytes = 0;
  const tell = (what: string, more = 0) => {
    bytes += more;
    options.onProgress?.({ files: files.length, bytes, what });
  };
  const config = await copyConfig(temp, source, options);
  files.push(...config.files);
  const database = await copyState(temp, source, { signal, onShare: (share) => tell(`database ${Math.floor(share * 100)} %`) });
  if (database) files.push(database.file);
  await reached("backup.after-database");
  const elsewhere = source.outside.map((path) => ({ path, reason: "it is not in the state directory; copy it yourself" }));
  const leftOut = [...config.leftOut, ...state.leftOut, ...elsewhere];
  for (const { from, path } of state.files) {
    try {
      const copied = await copyFile(from, join(temp, "state", ...path.split("/")), {
        signal,
        isAppendOnly: growing.test(path),
        onBytes: (count) => tell(path, count),
      });
      files.push({ path: `state/${path}`, ...copied });
    } catch (error) {
      signal.throwIfAborted();
      if (!isVanished(error)) throw error;
    }
  }
  return {
    format: FORMAT,
    createdAt: new Date(options.now).toISOString(),
    svc: source.version,
    node: process.versions.node,
    platform: process.platform,
    ...(config.main === undefined ? {} : { config: config.main }),
    ...(database ? { database: database.versions } : {}),
    withSecrets,
    files,
    leftOut,
  };
}

/** A file that was removed since the folder was listed is not in the state any more. */
function isVanished(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ENOENT";
}

async function copyState(temp: string, { stateDir }: BackupSource, given: { signal: AbortSignal; onShare(share: number): void }) {
  const path = join(stateDir, "state.sqlite");
  if (((await stat(path).catch(() => undefined))?.size ?? 0) === 0) return undefined;
  await mkdir(join(temp, "state"), { recursive: true, mode: 0o700 });
  const target = join(temp, "state", "state.sqlite");
  const versions = await copyDatabase(path, target, given);
  return { versions, file: await describe(temp, "state/state.sqlite", given.signal) };
}

async function describe(temp: string, path: string, signal: AbortSignal): Promise<BackupFile> {
  return { path, ...(await hashFile(join(temp, path), signal)), mode: 0o600 };
}

/** Included files keep their place relative to the main one; those outside its folder belong to whoever put them there. */
async function copyConfig(temp: string, { configPath, texts }: BackupSource, { withSecrets, signal }: BackupOptions) {
  const files: BackupFile[] = [];
  const leftOut: BackupManifest["leftOut"] = [];
  for (const { path, text, redacted } of texts) {
    const inside = relative(dirname(configPath), path).split(sep).join("/");
    const place = path === configPath ? basename(configPath) : inside;
    if (place.startsWith("../") || place.startsWith("/") || /^[A-Za-z]:/.test(place)) {
      leftOut.push({ path, reason: "it is included from outside the folder of the config; copy it yourself" });
      continue;
    }
    const to = `config/${place}`;
    if (withSecrets) {
      files.push({ path: to, ...(await copyFile(await realpath(path), join(temp, to), { signal })) });
    } else if (redacted === undefined) {
      leftOut.push({ path, reason: "it does not parse, so secrets in it cannot be told from the rest: --with-secrets" });
    } else {
      await writeFileAtomic(join(temp, to), redacted);
      files.push({ ...(await describe(temp, to, signal)), mode: 0o600 });
      if (redacted !== text) leftOut.push({ path: place, reason: "its secrets are not in the copy: --with-secrets" });
    }
  }
  const main = files.find(({ path }) => path === `config/${basename(configPath)}`);
  return { files, leftOut, main: main && basename(configPath) };
}

/** @throws {SvcError} `backup-target` */
async function requireTarget(dir: string, stateDir: string): Promise<void> {
  const names = await readdir(dir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw storeErrors.backupTarget({ dir, reason: error.code === "ENOTDIR" ? "it is a file" : messageOf(error) });
  });
  if (names.length > 0) throw storeErrors.backupTarget({ dir, reason: "it is not empty, and nothing is overwritten" });
  const parent = await realpath(await nearest(dirname(dir)));
  const state = await realpath(stateDir).catch(() => stateDir);
  if (parent === state || isInside(state, parent))
    throw storeErrors.backupTarget({ dir, reason: `it is inside the state directory ${stateDir}, and would be lost with it` });
}

async function nearest(folder: string): Promise<string> {
  const isThere = await stat(folder).then(
    () => true,
    () => false,
  );
  return isThere || dirname(folder) === folder ? folder : nearest(dirname(folder));
}

function tempPrefix(dir: string): string {
  return `.${basename(dir)}.backup-`;
}

/** Removes what a backup with this name has left that was killed. */
async function removeLeftovers(dir: string): Promise<void> {
  const prefix = tempPrefix(dir);
  for (const name of await readdir(dirname(dir))) {
    const [, pid, startTime] = name.startsWith(prefix) ? (/^(\d+)-(\d+)$/.exec(name.slice(prefix.length)) ?? []) : [];
    if (pid === undefined || isAlive({ pid: Number(pid), startTime: startTime ?? null, createdAt: 0 })) continue;
    await rm(join(dirname(dir), name), { recursive: true, force: true });
  }
}

async function bytesOf(paths: readonly string[]): Promise<number> {
  let bytes = 0;
  for (const path of paths) bytes += (await stat(path).catch(() => undefined))?.size ?? 0;
  return bytes;
}

/** Names are on disk when their folders are. */
async function syncTree(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) if (entry.isDirectory()) await syncTree(join(folder, entry.name));
  await syncFolder(folder);
}
