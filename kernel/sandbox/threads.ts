import type { Worker } from "node:worker_threads";
import { withLimit } from "../../sdk/time.ts";

/** Time threads have to end before the process exits. */
const PATIENCE_MS = 1_000;

const open = new Map<Worker, Promise<unknown>>();

/** Keeps a thread in mind until it has gone. */
export function rememberThread(worker: Worker): void {
  const gone = new Promise<void>((resolve) => worker.once("exit", () => resolve())).then(() => open.delete(worker));
  open.set(worker, gone);
}

/**
 * Ends every thread with foreign code, before the process ends. A thread inside a system call (a program it waits for, a pipe nobody writes to)
 * cannot be ended, and the end of the process would wait for it: then the process has to be killed.
 * @returns whether all of them have gone in time
 */
async function endThreads(): Promise<boolean> {
  const all = [...open];
  for (const [worker] of all) void worker.terminate();
  return withLimit(
    Promise.all(all.map(([, gone]) => gone)).then(() => true),
    PATIENCE_MS,
    () => false,
  );
}

/** Ends the process with this code; with SIGKILL when a thread does not let it go (a note on stderr says so). */
export async function exitProcess(code: number): Promise<void> {
  if (await endThreads()) process.exit(code);
  process.stderr.write("a thread with a plugin's code waits in a system call and cannot be ended: the process is killed\n");
  process.kill(process.pid, "SIGKILL");
}
