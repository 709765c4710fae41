import { lstat, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { localDay } from "./log-path.ts";

/** All log files together. */
const MAX_TOTAL_BYTES = 500_000_000;
const DAY_MS = 86_400_000;
const DOUBTED_MS = 90 * DAY_MS;

/** Puts a log file aside as `.1`; those before it move up, the one behind the last place goes. */
export async function rotate(path: string, maxFiles: number): Promise<void> {
  const move = (from: string, to: string) =>
    rename(from, to).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
    });
  for (let n = maxFiles - 1; n >= 1; n--) await move(`${path}.${n}`, `${path}.${n + 1}`);
  await move(path, `${path}.1`);
}

/** Rules for deleting log files. */
export interface Retention {
  /** The file in use; it stays, whatever its age. */
  current: string;
  /** Folder of the files that are named by their day. */
  dailyDir: string;
  retentionDays: number;
  maxFiles: number;
  now: Date;
}

/**
 * Deletes log files that are too old, too many, or more than 500 MB together (oldest first). Touches nothing else in their folders. When nothing was
 * logged for three months the clock may have gone ahead: then the newest of them tells what is old.
 */
export async function prune({ current, dailyDir, retentionDays, maxFiles, now }: Retention): Promise<void> {
  const all = await logFiles(current, dailyDir);
  const oldAt = (nowMs: number) => {
    const oldestDay = localDay(new Date(nowMs - retentionDays * DAY_MS));
    return ({ day, mtimeMs }: Found) => (day === undefined ? nowMs - mtimeMs > retentionDays * DAY_MS : day < oldestDay);
  };
  const newestMs = Math.max(0, ...all.map(timeOf));
  const isOld = oldAt(now.getTime() - newestMs > DOUBTED_MS ? newestMs : now.getTime());
  const kept: Found[] = [];
  for (const found of all) {
    if (isOld(found) || found.place > maxFiles) await rm(found.path, { force: true });
    else kept.push(found);
  }
  let total = (await lstat(current).catch(() => undefined))?.size ?? 0;
  for (const found of kept.sort((a, b) => b.mtimeMs - a.mtimeMs)) {
    total += found.bytes;
    if (total > MAX_TOTAL_BYTES) await rm(found.path, { force: true });
  }
}

interface Found {
  path: string;
  bytes: number;
  mtimeMs: number;
  /** In the name of a daily file. */
  day: string | undefined;
  /** 0: never put aside. */
  place: number;
}

/** Its day, as far as a name tells one. */
function timeOf({ day, mtimeMs }: Found): number {
  return day === undefined ? mtimeMs : new Date(`${day}T00:00:00`).getTime();
}

/** The daily files and what was put aside of the current one, without itself. */
async function logFiles(current: string, dailyDir: string): Promise<Found[]> {
  const daily = /^gateway-(\d{4}-\d\d-\d\d)\.jsonl(?:\.(\d{1,3}))?$/;
  const found: Found[] = [];
  for (const dir of new Set([dailyDir, dirname(current)])) {
    for (const name of await readdir(dir).catch(() => [])) {
      const path = join(dir, name);
      const byDay = dir === dailyDir ? daily.exec(name) : null;
      const place = byDay ? byDay[2] : placeOf(name, basename(current), dir === dirname(current));
      if (path === current || (!byDay && place === undefined)) continue;
      const stat = await lstat(path).catch(() => undefined);
      if (stat?.isFile()) found.push({ path, bytes: stat.size, mtimeMs: stat.mtimeMs, day: byDay?.[1], place: Number(place ?? 0) });
    }
  }
  return found;
}

function placeOf(name: string, base: string, isBeside: boolean): string | undefined {
  const rest = isBeside && name.startsWith(`${base}.`) ? name.slice(base.length + 1) : "";
  return /^[1-9]\d{0,2}$/.test(rest) ? rest : undefined;
}
