import type { Worker } from "node:worker_threads";
import { SvcError, startWorker, workerUrl } from "svc/sdk";
import type { WriterReply, WriterRequest, WriterSetup } from "./writer-messages.ts";

/** One life of the writer thread, seen from the main thread. */
export interface WriterLink {
  /**
   * One request at a time. No answer in time ends the thread: a hanging disk must not hold its callers for ever.
   * @throws {SvcError} `worker-down` when the thread ends first
   */
  request(request: WriterRequest, timeoutMs: number): Promise<WriterReply>;
  terminate(): Promise<void>;
}

interface Waiting {
  resolve(reply: WriterReply): void;
  reject(error: SvcError): void;
  timer: NodeJS.Timeout;
}

/** Starts the thread; `onDown` is called once when it ends, after the open request was rejected. */
export function startWriterLink(setup: WriterSetup, onDown: (error: SvcError) => void): WriterLink {
  const worker = startWorker(workerUrl(import.meta.url, "./writer.worker"), { workerData: setup, name: "store-writer" });
  let waiting: Waiting | undefined;
  let down: SvcError | undefined;

  const take = (): Waiting | undefined => {
    const taken = waiting;
    waiting = undefined;
    if (taken) clearTimeout(taken.timer);
    return taken;
  };
  const fail = (cause: unknown) => {
    if (down) return;
    down = new SvcError("worker-down", { worker: "store" }, cause === undefined ? {} : { cause });
    take()?.reject(down);
    onDown(down);
  };
  worker.on("message", (reply: WriterReply) => take()?.resolve(reply));
  worker.on("error", fail);
  worker.on("messageerror", fail);
  worker.on("exit", (code) => fail(new Error(`the thread ended with code ${code}`)));

  return {
    request: (request, timeoutMs) =>
      new Promise((resolve, reject) => {
        if (down) return reject(down);
        const timer = setTimeout(() => {
          fail(new Error(`no answer to "${request.type}" within ${timeoutMs} ms`));
          void endThread(worker);
        }, timeoutMs);
        waiting = { resolve, reject, timer };
        worker.postMessage(request);
      }),
    async terminate() {
      await endThread(worker);
    },
  };
}

async function endThread(worker: Worker): Promise<void> {
  await worker.terminate();
}
