import { workerUrl } from "svc/sdk";
import { ThreadJobs } from "svc/sdk/internal";
import type { PageAnswer, PageJob } from "./page-job.ts";

const HEAP_MB = 256;
/** Time for one page; its thread is ended after it. */
const LIMIT_MS = 5_000;

/** Makes Markdown of pages of strangers. */
export class PageReader {
  readonly #limitMs: number;
  readonly #jobs: ThreadJobs<PageJob, PageAnswer>;

  constructor({ limitMs = LIMIT_MS }: { limitMs?: number } = {}) {
    this.#limitMs = limitMs;
    this.#jobs = new ThreadJobs(workerUrl(import.meta.url, "page.worker"), { limitMs, heapMb: HEAP_MB });
  }

  /**
   * @throws {Error} for a page that takes too long or cannot be read, in words for the model
   * @throws {SvcError} `busy` when too many wait
   * @throws the signal's reason
   */
  async read(job: PageJob, signal: AbortSignal): Promise<{ title: string; text: string }> {
    const result = await this.#jobs.run(job, signal);
    if ("ended" in result) throw unreadable(this.#reasonOf(result.ended));
    if ("failure" in result.answer) throw unreadable(result.answer.failure);
    return result.answer;
  }

  /** Ends all threads. */
  close(): Promise<void> {
    return this.#jobs.close();
  }

  #reasonOf(ended: "late" | "memory" | "closed"): string {
    if (ended === "late") return `it takes longer than ${this.#limitMs / 1_000} s`;
    return ended === "closed" ? "the gateway is stopping" : "it takes too much memory";
  }
}

function unreadable(reason: string): Error {
  return new Error(`the page cannot be read: ${reason}; try it with raw: true`);
}
