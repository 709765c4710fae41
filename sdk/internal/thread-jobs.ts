import type { Worker } from "node:worker_threads";
import { commonErrors } from "../errors.ts";
import { startWorker } from "../worker.ts";

const MAX_THREADS = 2;
const MAX_WAITING = 16;

/** The one message of a job's thread, or the reason why none came. */
export type ThreadResult<Answer> = { answer: Answer } | { ended: "late" | "memory" | "closed"; fault: unknown };

/** Works on texts and files of strangers, each in a thread of its own that is ended at its limits, two at a time. */
export class ThreadJobs<Job, Answer> {
  readonly #module: URL;
  readonly #limits: { readonly limitMs: number; readonly heapMb: number };
  readonly #threads = new Set<Worker>();
  readonly #waiting = new Set<() => void>();
  #free = MAX_THREADS;
  #isClosed = false;

  /**
   * @param module as of `workerUrl`; it gets the job as `workerData` and posts one answer
   * @param limits at which the thread of a job is ended
   */
  constructor(module: URL, limits: { limitMs: number; heapMb: number }) {
    this.#module = module;
    this.#limits = limits;
  }

  /**
   * @param transfer buffers of the job that the thread takes over
   * @throws {SvcError} `busy` when too many wait, or after `close`
   * @throws the signal's reason
   */
  async run(job: Job, signal: AbortSignal, transfer: ArrayBuffer[] = []): Promise<ThreadResult<Answer>> {
    await this.#takePlace(signal);
    try {
      if (this.#isClosed) throw commonErrors.busy();
      signal.throwIfAborted();
      return await this.#inThread(this.#start(job, transfer), signal);
    } finally {
      this.#leavePlace();
    }
  }

  /** Ends all threads; their jobs end as `closed`. */
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

  /** Passes the place on to the job that waits longest, if any. */
  #leavePlace(): void {
    const next = this.#waiting.values().next().value;
    if (next) next();
    else this.#free += 1;
  }

  #start(job: Job, transferList: ArrayBuffer[]): Worker {
    const thread = startWorker(this.#module, {
      workerData: job,
      transferList,
      resourceLimits: { maxOldGenerationSizeMb: this.#limits.heapMb },
      env: {},
      // Libraries print warnings of their own.
      stdout: true,
      stderr: true,
    });
    thread.stdout.resume();
    thread.stderr.resume();
    this.#threads.add(thread);
    thread.once("exit", () => this.#threads.delete(thread));
    return thread;
  }

  #inThread(thread: Worker, signal: AbortSignal): Promise<ThreadResult<Answer>> {
    return new Promise((resolve, reject) => {
      let isOver = false;
      const end = (settle: () => void) => {
        if (isOver) return;
        isOver = true;
        clearTimeout(late);
        signal.removeEventListener("abort", onAbort);
        // The place is free when its thread is gone.
        void thread.terminate().finally(settle);
      };
      const late = setTimeout(() => end(() => resolve({ ended: "late", fault: undefined })), this.#limits.limitMs);
      const onAbort = () => end(() => reject(signal.reason));
      signal.addEventListener("abort", onAbort, { once: true });
      thread.once("message", (answer: Answer) => end(() => resolve({ answer })));
      // Its own code catches what it can: what ends it is its memory.
      let fault: unknown;
      thread.on("error", (error) => {
        fault = error;
      });
      thread.once("exit", () => end(() => resolve({ ended: this.#isClosed ? "closed" : "memory", fault })));
    });
  }
}
