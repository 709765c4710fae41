import { EmbeddingError } from "svc/sdk";
import type { ModelProcess } from "./model-process.ts";
import type { OpenedModel, OpenRequest } from "./protocol.ts";
import { createWaitingTexts, type TextKind } from "./waiting-texts.ts";

/** One model for whoever embeds with it: opened on first use, closed when nobody used it for a while. */
export interface ModelRuntime {
  /**
   * Vector of one text as the model gives it. Queries go before documents; a query never waits for a download.
   * @param options.signals each of them ends the wait; a text that was begun is computed to its end
   * @throws {EmbeddingError} `not-ready` for a query while the model is not on this machine
   */
  embed(text: string, options: { kind: TextKind; signals: readonly AbortSignal[] }): Promise<Float32Array>;
  /** Rejects calls in progress and closes. 5 s at most. */
  close(): Promise<void>;
}

export interface ModelRuntimeOptions {
  /** Name of the model in messages. */
  name: string;
  request: Omit<OpenRequest, "download" | "library">;
  /** Address of the model library. @throws {EmbeddingError} */
  library(): Promise<string>;
  start(onDownload: (doneBytes: number, totalBytes: number) => void): ModelProcess;
  /** Called when a download begins and at each tenth of it. */
  log(message: string): void;
  idleMs: number;
}

export function createModelRuntime(options: ModelRuntimeOptions): ModelRuntime {
  return new Runtime(options);
}

class Runtime implements ModelRuntime {
  readonly #options: ModelRuntimeOptions;
  readonly #waiting = createWaitingTexts();
  readonly #ending = new Set<Promise<void>>();
  #process: { running: ModelProcess; opened?: OpenedModel } | undefined;
  #isWorking = false;
  #isDownloading = false;
  #isClosed = false;
  #idle: NodeJS.Timeout | undefined;

  constructor(options: ModelRuntimeOptions) {
    this.#options = options;
  }

  embed(text: string, { kind, signals }: { kind: TextKind; signals: readonly AbortSignal[] }): Promise<Float32Array> {
    if (this.#isClosed) return Promise.reject(closed());
    if (kind === "query" && this.#isDownloading) return Promise.reject(this.#notReady());
    const vector = this.#waiting.add(text, kind, signals);
    void this.#work();
    return vector;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idle);
    this.#waiting.reject(closed());
    this.#retire();
    await Promise.all(this.#ending);
  }

  async #work(): Promise<void> {
    if (this.#isWorking) return;
    this.#isWorking = true;
    clearTimeout(this.#idle);
    for (let next = this.#waiting.take(); next; next = this.#waiting.take()) {
      try {
        const process = await this.#ready(next.kind === "document");
        next.resolve(await process.embed(next.text));
      } catch (error) {
        next.reject(this.#isClosed ? closed() : error);
      }
    }
    this.#isWorking = false;
    if (this.#process && !this.#isClosed) this.#idle = setTimeout(() => this.#retire(), this.#options.idleMs).unref();
  }

  async #ready(download: boolean): Promise<ModelProcess> {
    if (this.#process && !this.#process.running.isUsable) this.#retire();
    const library = await this.#options.library();
    if (this.#isClosed) throw closed();
    this.#process ??= { running: this.#options.start(this.#watchDownload()) };
    const process = this.#process;
    try {
      process.opened ??= await process.running.open({ ...this.#options.request, library, download });
      return process.running;
    } catch (error) {
      // A process that only lacks the file is of use as soon as the file is there; any other is not worth keeping.
      if (!isNotReady(error)) this.#retire();
      throw isNotReady(error) ? this.#notReady() : error;
    } finally {
      this.#isDownloading = false;
    }
  }

  #retire(): void {
    const process = this.#process;
    if (!process) return;
    this.#process = undefined;
    const ended = process.running.end().finally(() => this.#ending.delete(ended));
    this.#ending.add(ended);
  }

  /** Tells of each tenth, once; queries that wait are told that the model is not there. */
  #watchDownload(): (doneBytes: number, totalBytes: number) => void {
    const { name, log } = this.#options;
    let told = -1;
    return (doneBytes, totalBytes) => {
      if (!this.#isDownloading) log(`downloading the embedding model ${name}`);
      this.#isDownloading = true;
      this.#waiting.reject(this.#notReady(), "query");
      const tenth = totalBytes > 0 ? Math.floor((doneBytes / totalBytes) * 10) : -1;
      if (tenth <= told) return;
      told = tenth;
      log(`embedding model ${name}: ${tenth * 10} % of ${megabytes(totalBytes)}`);
    };
  }

  #notReady(): EmbeddingError {
    const how = this.#isDownloading ? "is being downloaded" : "is not on this machine yet; the next sync of the index downloads it";
    return new EmbeddingError("not-ready", `local: the model ${this.#options.name} ${how}`);
  }
}

function isNotReady(error: unknown): boolean {
  return error instanceof EmbeddingError && error.fault === "not-ready";
}

function closed(): EmbeddingError {
  return new EmbeddingError("overloaded", "local: the model was closed");
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(bytes < 10_000_000 ? 1 : 0)} MB`;
}
