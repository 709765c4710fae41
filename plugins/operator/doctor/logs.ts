import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";

/** All logs together; the writer keeps to it, but not what it did not write. */
export const MAX_LOG_BYTES = 500_000_000;
/** So much is left of them when the disk is nearly full. */
export const SPARE_LOG_BYTES = 50_000_000;
/** Names of logs that are not written to any more, or are begun anew: of gateways by day and number, of services and restarts. */
const logName = /^(gateway-\d{4}-\d{2}-\d{2}\.jsonl|restarts\.jsonl|service\.(out|err)\.log)(\.\d+)?$/;

/** One file of the log folder. */
export interface LogFile {
  path: string;
  bytes: number;
  mtimeMs: number;
}

/** Files of the log folder, whoever wrote them. */
export async function logFiles(stateDir: string): Promise<LogFile[]> {
  const folder = join(stateDir, "logs");
  const names = await readdir(folder).catch(() => []);
  const found = await Promise.all(
    names.map(async (name) => {
      const path = join(folder, name);
      const seen = await stat(path).catch(() => undefined);
      return seen?.isFile() ? [{ path, bytes: seen.size, mtimeMs: seen.mtimeMs }] : [];
    }),
  );
  return found.flat();
}

/** The logs to delete, oldest first, until the rest is within the limit; never the newest, and nothing that svc does not write. Pure. */
export function surplusLogs(files: readonly LogFile[], maxBytes = MAX_LOG_BYTES): LogFile[] {
  let total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  const own = files.filter(({ path }) => logName.test(path.split(/[/\\]/).at(-1) ?? "")).sort((a, b) => a.mtimeMs - b.mtimeMs);
  const surplus: LogFile[] = [];
  for (const file of own.slice(0, -1)) {
    if (total <= maxBytes) break;
    surplus.push(file);
    total -= file.bytes;
  }
  return surplus;
}

/** Deletes the oldest logs. @returns what was done */
export async function pruneLogs(stateDir: string, maxBytes = MAX_LOG_BYTES): Promise<string> {
  const surplus = surplusLogs(await logFiles(stateDir), maxBytes);
  for (const { path } of surplus) await rm(path, { force: true });
  const freed = surplus.reduce((sum, { bytes }) => sum + bytes, 0);
  return surplus.length === 0 ? "no file of svc is left to delete" : `deleted ${surplus.length} files, ${Math.round(freed / 1_000_000)} MB`;
}
