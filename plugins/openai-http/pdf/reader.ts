import { commonErrors, isSvcError, type PluginVendor, workerUrl } from "svc/sdk";
import { ThreadJobs } from "svc/sdk/internal";
import type { PdfAnswer, PdfContent, PdfFailure, PdfJob, PdfLimits } from "./job.ts";

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

/** Reads PDFs of strangers. */
export class PdfReader {
  readonly #options: ReaderOptions;
  readonly #jobs: ThreadJobs<PdfJob, PdfAnswer>;

  constructor(options: ReaderOptions) {
    const { limitMs = LIMIT_MS, heapMb = HEAP_MB } = options;
    this.#options = options;
    this.#jobs = new ThreadJobs(workerUrl(import.meta.url, "pdf.worker"), { limitMs, heapMb });
  }

  /**
   * Takes `bytes` over: they are empty afterwards.
   * @throws {PdfRefusal}
   * @throws {SvcError} `busy` when too many wait
   * @throws the signal's reason
   */
  async read(bytes: Uint8Array, limits: PdfLimits, signal: AbortSignal): Promise<PdfContent> {
    const packages = await this.#packages();
    const { maxMemoryBytes = MAX_MEMORY_BYTES } = this.#options;
    const isOwner = bytes.byteLength === bytes.buffer.byteLength;
    const transfer = isOwner ? [bytes.buffer as ArrayBuffer] : [];
    const result = await this.#jobs.run({ ...packages, bytes, limits, maxMemoryBytes }, signal, transfer);
    if ("answer" in result) {
      const { answer } = result;
      if ("content" in answer) return answer.content;
      throw new PdfRefusal(answer.failure.kind, answer.failure.detail);
    }
    if (result.ended === "closed") throw commonErrors.busy();
    throw result.ended === "late" ? new PdfRefusal("too-slow") : new PdfRefusal("too-large", String(result.fault));
  }

  /** Ends all threads; what is being read is refused. */
  close(): Promise<void> {
    return this.#jobs.close();
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
}
