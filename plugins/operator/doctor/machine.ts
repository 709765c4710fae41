import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { isAlive } from "svc/sdk/internal";

/** Limits of the system on watching folders; absent where there are none of this kind. */
export interface WatchLimits {
  watches: number;
  instances: number;
}

/** Reads the limits of inotify, on Linux. */
export async function watchLimits(folder = "/proc/sys/fs/inotify"): Promise<WatchLimits | undefined> {
  const read = async (name: string) => Number((await readFile(join(folder, name), "utf8").catch(() => "")).trim() || Number.NaN);
  const [watches, instances] = [await read("max_user_watches"), await read("max_user_instances")];
  return Number.isFinite(watches) && Number.isFinite(instances) ? { watches, instances } : undefined;
}

/** Copies that a restore has left that was killed before it changed anything. */
export async function restoreLeftovers(stateDir: string): Promise<string[]> {
  const names = await readdir(stateDir).catch(() => []);
  return names.flatMap((name) => {
    const [, pid, startTime] = /^\.restore-(\d+)-(\d+)$/.exec(name) ?? [];
    const isLeft = pid !== undefined && !isAlive({ pid: Number(pid), startTime: startTime ?? null, createdAt: 0 });
    return isLeft ? [join(stateDir, name)] : [];
  });
}
