import { readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { liveOwner } from "./engine/rebuild-lock.ts";

/** A rebuild writes all the time; what has not changed for so long is nobody's. */
const ORPHAN_MS = 3_600_000;

/** Lists files that other processes, or dead ones, left beside an index: backups are left alone, one may be the last copy. */
export async function leftoversOf(dbPath: string, nowMs = Date.now()): Promise<{ lockedBy: number | undefined; orphans: string[] }> {
  const lockedBy = liveOwner(dbPath);
  if (lockedBy !== undefined) return { lockedBy, orphans: [] };
  const prefix = `${basename(dbPath)}.tmp-`;
  const names = await readdir(dirname(dbPath)).catch(() => []);
  const paths = names.filter((name) => name.startsWith(prefix)).map((name) => join(dirname(dbPath), name));
  const old = await Promise.all(
    paths.map(async (path) => {
      const stats = await stat(path).catch(() => undefined);
      return stats?.isFile() === true && nowMs - stats.mtimeMs > ORPHAN_MS;
    }),
  );
  return { lockedBy, orphans: paths.filter((_, i) => old[i]) };
}
