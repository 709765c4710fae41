import { commonErrors, type SvcError, startWorker, workerUrl } from "svc/sdk";
import type { WriterReply, WriterRequest, WriterSetup } from "./writer-messages.ts";

/** One life of the writer thread, seen from the main thread. */
export interface WriterThread {
  /**
   * Requests are sent one after another. No answer in time ends the thread: a hanging disk must not hold its callers for ever.
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

/** Starts the thread; `onDown` is called once when it ends, after its open request was rejected. */
export function startWriterThread(setup: WriterSetup, onDown: (error: SvcError) => void): WriterThread {
  const worker = startWorker(workerUrl(import.meta.url, "./writer.worker"), { workerData: setup, name: "store-writer" });
  let waiting: Waiting | undefined;
  let down: SvcError | undefined;
  let tail: Promise<unknown> = Promise.resolve();

  const take = (): Waiting | undefined => {
    const taken = waiting;
    waiting = undefined;
    clearTimeout(taken?.timer);
    return taken;
  };
  const fail = (cause: unknown) => {
    if (down) return;
    const error = commonErrors.workerDown({ worker: "store" }, { cause });
    down = error;
    take()?.reject(error);
    onDown(error);
  };
  const send = (request: WriterRequest, timeoutMs: number) =>
    new Promise<WriterReply>((resolve, reject) => {
      if (down) return reject(down);
      const timer = setTimeout(() => {
        fail(new Error(`no answer to "${request.type}" within ${timeoutMs} ms`));
        void worker.terminate();
      }, timeoutMs);
      waiting = { resolve, reject, timer };
      worker.postMessage(request);
    });

  worker.on("message", (reply: WriterReply) => take()?.resolve(reply));
  worker.on("error", fail);
  worker.on("messageerror", fail);
  worker.on("exit", (code) => fail(new Error(`the thread ended with code ${code}`)));
  return {
    request(request, timeoutMs) {
      const reply = tail.then(() => send(request, timeoutMs));
      tail = reply.catch(() => undefined);
      return reply;
    },
    async terminate() {
      await worker.terminate();
    },
  };
}
