import { readdir, readFile } from "node:fs/promises";

/** Variable that a command and all that it starts carry, with a value of their own, so that they are found again. */
export const MARK = "EXEC_ID";
/** Looks at all processes: what is found may have started another one meanwhile. */
const MAX_ROUNDS = 5;
const LIMIT_MS = 3_000;
/** Processes that are looked at together. */
const TOGETHER = 32;

/**
 * Ends processes that carry a mark, wherever they have gone: those of a session of their own leave the process group of their command. Finds nothing outside of Linux, nor a process that has
 * thrown its environment away. Never rejects.
 */
export async function endMarked(mark: string): Promise<void> {
  if (process.platform !== "linux") return;
  const until = performance.now() + LIMIT_MS;
  for (let round = 0; round < MAX_ROUNDS && performance.now() < until; round++) {
    const found = await marked(mark, until);
    if (found.length === 0) return;
    for (const pid of found) kill(pid);
  }
}

async function marked(mark: string, until: number): Promise<number[]> {
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d{1,10}$/.test(name)).map(Number);
  const found: number[] = [];
  for (let at = 0; at < pids.length && performance.now() < until; at += TOGETHER) {
    const some = pids.slice(at, at + TOGETHER);
    const verdicts = await Promise.all(some.map((pid) => carries(pid, mark)));
    found.push(...some.filter((_, i) => verdicts[i]));
  }
  return found;
}

/** Processes of other users cannot be read, and are none of ours. */
async function carries(pid: number, mark: string): Promise<boolean> {
  const environment = await readFile(`/proc/${pid}/environ`).catch(() => undefined);
  return environment !== undefined && Buffer.concat([Buffer.of(0), environment]).includes(`\0${MARK}=${mark}\0`);
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // it is gone
  }
}
