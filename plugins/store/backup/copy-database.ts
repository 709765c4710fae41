import type { Worker } from "node:worker_threads";
import { createError, startWorker, workerUrl } from "svc/sdk";
import { storeErrors } from "../errors.ts";
import type { DatabaseAnswer, DatabaseOrder, DatabaseVersions } from "./database.worker.ts";

/**
 * Copies the state database as it is at one moment into one file, in a thread, while the gateway goes on writing, and checks the copy.
 * @throws {SvcError} `backup-database`, `store-native-missing`; the reason of the signal
 */
export function copyDatabase(
  source: string,
  target: string,
  given: { signal: AbortSignal; onShare?(share: number): void },
): Promise<DatabaseVersions> {
  return inThread({ do: "copy", source, target }, given);
}

/** Reads every page of a copy. @throws {SvcError} `backup-database` when it is damaged */
export function checkDatabase(path: string, signal: AbortSignal): Promise<DatabaseVersions> {
  return inThread({ do: "check", source: path }, { signal });
}

async function inThread(
  order: DatabaseOrder,
  { signal, onShare }: { signal: AbortSignal; onShare?(share: number): void },
): Promise<DatabaseVersions> {
  signal.throwIfAborted();
  const worker = startWorker(workerUrl(import.meta.url, "./database.worker"), { workerData: order, name: "store-backup" });
  const stop = () => void worker.terminate();
  signal.addEventListener("abort", stop, { once: true });
  try {
    const answer = await answerOf(worker, onShare);
    signal.throwIfAborted();
    if ("refusal" in answer) throw createError(storeErrors, answer.refusal.code, answer.refusal.fields);
    if ("failed" in answer) throw storeErrors.backupDatabase({ path: order.source, reason: answer.failed });
    return answer.versions;
  } finally {
    signal.removeEventListener("abort", stop);
    await worker.terminate();
  }
}

function answerOf(worker: Worker, onShare?: (share: number) => void): Promise<Exclude<DatabaseAnswer, { share: number }>> {
  return new Promise((resolve) => {
    worker.on("message", (said: DatabaseAnswer) => {
      if ("share" in said) onShare?.(said.share);
      else resolve(said);
    });
    worker.once("error", ({ message }) => resolve({ failed: message }));
    worker.once("exit", (code) => resolve({ failed: `its thread ended with code ${code}` }));
  });
}
