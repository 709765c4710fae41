import type { Worker } from "node:worker_threads";
import { commonErrors, isSvcError, type PluginVendor, startWorker, workerUrl } from "svc/sdk";
import type { PdfAnswer, PdfContent, PdfFailure, PdfJob, PdfLimits } from "./job.ts";

/** PDFs that are read at the same time. */
const MAX_THREADS = 2;
/** PDFs that wait for their turn. */
const MAX_WAITING = 16;
/** Heap of a thread. */
const HEAP_MB = 256;
const MAX_MEMORY_BYTES = 512 * 1024 * 1024;
/** Time for one PDF; its thread is ended after it. */
const LIMIT_MS = 20_000;
const installCommand = "svc plugins add-packages openai-http";

type Kind = PdfFailure["kind"] | "too-slow" | "not-installed";

const reasons: Readonly<Record<Kind, string>> = {
  encrypted: "the PDF is encrypted; send it without a password",
  damaged: "the PDF cannot be read",
  "too-large": "the PDF takes more memory than one may; send fewer or simpler pages",
  "too-slow": "the PDF takes longer to read than one may; send fewer or simpler pages",
  "no-canvas": `the PDF has pictures instead of text, and drawing them is not installed; send its text or pictures, or install it: ${installCommand}`,
  "not-installed": `reading of PDF files is not installed; send the text, or install it: ${installCommand}`,
};

/** A PDF that was not read; the message is for whoever sent it. */
export class PdfRefusal extends Error {
  readonly kind: Kind;
  /** For the log. */
  readonly detail: string;
  constructor(kind: Kind, detail = "") {
    super(reasons[kind]);
    this.kind = kind;
    this.detail = detail;
  }
}

interface ReaderOptions {
  vendor: PluginVendor;
  limitMs?: number;
  heapMb?: number;
  maxMemoryBytes?: number;
}

/** Reads PDFs of strangers, each in a thread of its own that is ended at its limits, and a few at a time. */
export class PdfReader {
  readonly #options: ReaderOptions;
  readonly #threads = new Set<Worker>();
  readonly #waiting = new Set<() => void>();
  #places = MAX_THREADS;
  #isClosed = false;

  constructor(options: ReaderOptions) {
    this.#options = options;
  }

  /**
   * Takes `bytes` over: they are empty afterwards.
   * @throws {PdfRefusal}
   * @throws {SvcError} `busy` when too many wait
   * @throws the signal's reason
   */
  async read(bytes: Uint8Array, limits: PdfLimits, signal: AbortSignal): Promise<PdfContent> {
    const packages = await this.#packages();
    await this.#takePlace(signal);
    try {
      const { maxMemoryBytes = MAX_MEMORY_BYTES } = this.#options;
      return await this.#run({ ...packages, bytes, limits, maxMemoryBytes }, signal);
    } finally {
      this.#givePlace();
    }
  }

  /** Ends all threads; what is being read is refused. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const proceed of this.#waiting) proceed();
    await Promise.all([...this.#threads].map((thread) => thread.terminate()));
  }

  async #packages(): Promise<Pick<PdfJob, "library" | "canvas">> {
    const { vendor } = this.#options;
    const find = (name: string) =>
      vendor.resolve(name).catch((error: unknown) => {
        if (isSvcError(error, "missing-dependency")) return undefined;
        throw error;
      });
    const library = await find("pdfjs-dist");
    if (library === undefined) throw new PdfRefusal("not-installed");
    return { library, canvas: await find("@napi-rs/canvas") };
  }

  async #takePlace(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#places > 0) {
      this.#places -= 1;
      return;
    }
    if (this.#waiting.size >= MAX_WAITING) throw commonErrors.busy();
    await new Promise<void>((resolve, reject) => {
      const proceed = () => leave(resolve);
      const onAbort = () => leave(() => reject(signal.reason));
      const leave = (settle: () => void) => {
        this.#waiting.delete(proceed);
        signal.removeEventListener("abort", onAbort);
        settle();
      };
      this.#waiting.add(proceed);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  /** To the one that waits longest, if any. */
  #givePlace(): void {
    const next = this.#waiting.values().next().value;
    if (next) next();
    else this.#places += 1;
  }

  #run(job: PdfJob, signal: AbortSignal): Promise<PdfContent> {
    if (this.#isClosed) throw commonErrors.busy();
    signal.throwIfAborted();
    const thread = this.#start(job);
    return new Promise<PdfContent>((resolve, reject) => {
      const late = setTimeout(() => end(() => reject(new PdfRefusal("too-slow"))), this.#options.limitMs ?? LIMIT_MS);
      const onAbort = () => end(() => reject(signal.reason));
      let isOver = false;
      const end = (settle: () => void) => {
        if (isOver) return;
        isOver = true;
        clearTimeout(late);
        signal.removeEventListener("abort", onAbort);
        // The place is free when its thread is gone.
        void thread.terminate().finally(settle);
      };
      signal.addEventListener("abort", onAbort, { once: true });
      thread.once("message", (answer: PdfAnswer) => {
        end(() => ("content" in answer ? resolve(answer.content) : reject(new PdfRefusal(answer.failure.kind, answer.failure.detail))));
      });
      // Its own code catches what it can: what ends it is its memory.
      let fault: unknown;
      thread.on("error", (error) => {
        fault = error;
      });
      thread.once("exit", () => end(() => reject(this.#isClosed ? commonErrors.busy() : new PdfRefusal("too-large", String(fault)))));
    });
  }

  #start(job: PdfJob): Worker {
    const owned = job.bytes.byteLength === job.bytes.buffer.byteLength;
    const thread = startWorker(workerUrl(import.meta.url, "pdf.worker"), {
      workerData: job,
      transferList: owned ? [job.bytes.buffer as ArrayBuffer] : [],
      resourceLimits: { maxOldGenerationSizeMb: this.#options.heapMb ?? HEAP_MB },
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
}
