import type { Worker } from "node:worker_threads";
import { withLimit } from "../limit.ts";

const open = new Map<Worker, Promise<unknown>>();

/** Keeps a thread in mind until it has gone. */
export function rememberThread(worker: Worker): void {
  const gone = new Promise<void>((resolve) => worker.once("exit", () => resolve())).then(() => open.delete(worker));
  open.set(worker, gone);
}

/**
 * Ends every thread with foreign code, before the process ends. A thread inside a system call (a program it waits for, a pipe nobody writes to)
 * cannot be ended, and the end of the process would wait for it: then the process has to be killed.
 * @returns whether all of them have gone within `limitMs`
 */
export async function endThreads(limitMs = 1_000): Promise<boolean> {
  const all = [...open];
  for (const [worker] of all) void worker.terminate();
  return withLimit(
    Promise.all(all.map(([, gone]) => gone)).then(() => true),
    limitMs,
    () => false,
  );
}
