import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { promisify } from "node:util";

const SHELL_MS = 2_000;
let shellLimit: Promise<number | undefined> | undefined;

/** Most descriptors this process may have open; undefined where the system does not say. */
export async function readDescriptorLimit(): Promise<number | undefined> {
  const text = await readFile("/proc/self/limits", "utf8").catch(() => undefined);
  if (text === undefined) return askShell();
  const soft = /^Max open files\s+(\d+)/m.exec(text)?.[1];
  return soft === undefined ? undefined : Number(soft);
}

/** Asks a shell for the limit where there is no `/proc`. Nothing changes it there, so one question is enough. */
function askShell(): Promise<number | undefined> {
  shellLimit ??= promisify(execFile)("/bin/sh", ["-c", "ulimit -n"], { timeout: SHELL_MS }).then(
    ({ stdout }) => (/^\d+$/.test(stdout.trim()) ? Number(stdout) : undefined),
    () => undefined,
  );
  return shellLimit;
}

/** Descriptors that are open now; undefined where the system does not say. */
export async function countDescriptors(): Promise<number | undefined> {
  const names = await readdir("/proc/self/fd").catch(() => readdir("/dev/fd").catch(() => undefined));
  return names?.length;
}
