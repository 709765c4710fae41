import type { Worker } from "node:worker_threads";
import { commonErrors, startWorker, workerUrl } from "svc/sdk";
import type { PageAnswer, PageJob } from "./page-job.ts";

/** Pages that are read at the same time. */
const MAX_THREADS = 2;
const MAX_WAITING = 16;
const HEAP_MB = 256;
/** Time for one page; its thread is ended after it. */
const LIMIT_MS = 5_000;

/** Makes Markdown of pages of strangers, each in a thread of its own that is ended at its limits, and a few at a time. */
export class PageReader {
  readonly #limitMs: number;
  readonly #threads = new Set<Worker>();
  readonly #waiting = new Set<() => void>();
  #free = MAX_THREADS;
  #isClosed = false;

  constructor({ limitMs = LIMIT_MS }: { limitMs?: number } = {}) {
    this.#limitMs = limitMs;
  }

  /**
   * @throws {Error} for a page that takes too long or cannot be read, in words for the model
   * @throws {SvcError} `busy` when too many wait
   * @throws the signal's reason
   */
  async read(job: PageJob, signal: AbortSignal): Promise<{ title: string; text: string }> {
    await this.#takePlace(signal);
    try {
      if (this.#isClosed) throw commonErrors.busy();
      const answer = await this.#run(job, signal);
      if ("failure" in answer) throw new Error(`the page cannot be read: ${answer.failure}; try it with raw: true`);
      return answer;
    } finally {
      this.#leavePlace();
    }
  }

  /** Ends all threads. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const proceed of this.#waiting) proceed();
    await Promise.all([...this.#threads].map((thread) => thread.terminate()));
  }

  async #takePlace(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    if (this.#waiting.size >= MAX_WAITING) throw commonErrors.busy();
    await new Promise<void>((resolve, reject) => {
      const leave = (settle: () => void) => {
        this.#waiting.delete(proceed);
        signal.removeEventListener("abort", onAbort);
        settle();
      };
      const proceed = () => leave(resolve);
      const onAbort = () => leave(() => reject(signal.reason));
      this.#waiting.add(proceed);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  #leavePlace(): void {
    const next = this.#waiting.values().next().value;
    if (next) next();
    else this.#free += 1;
  }

  #run(job: PageJob, signal: AbortSignal): Promise<PageAnswer> {
    const thread = startWorker(workerUrl(import.meta.url, "page.worker"), {
      workerData: job,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
      env: {},
      stdout: true,
      stderr: true,
    });
    thread.stdout.resume();
    thread.stderr.resume();
    this.#threads.add(thread);
    thread.once("exit", () => this.#threads.delete(thread));
    return new Promise<PageAnswer>((resolve, reject) => {
      let isOver = false;
      const end = (settle: () => void) => {
        if (isOver) return;
        isOver = true;
        clearTimeout(late);
        signal.removeEventListener("abort", onAbort);
        // The place is free when its thread is gone.
        void thread.terminate().finally(settle);
      };
      const seconds = this.#limitMs / 1_000;
      const late = setTimeout(() => end(() => resolve({ failure: `it takes longer than ${seconds} s` })), this.#limitMs);
      const onAbort = () => end(() => reject(signal.reason));
      signal.addEventListener("abort", onAbort, { once: true });
      thread.once("message", (answer: PageAnswer) => end(() => resolve(answer)));
      thread.on("error", () => undefined); // `exit` follows
      thread.once("exit", () => end(() => resolve({ failure: this.#isClosed ? "the gateway is stopping" : "it takes too much memory" })));
    });
  }
}
