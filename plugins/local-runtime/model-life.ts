import type { OpenedModel, OpenRequest } from "./messages.ts";
import type { ModelHandle } from "./process-owner.ts";
import { type CallOptions, ProcessFailure } from "./runtime-process.ts";

export interface ModelLifeOptions {
  /** Name of the model in messages. */
  name: string;
  request: Omit<OpenRequest, "key" | "download" | "library">;
  loadMs: number;
  /** Address of the model library. @throws {SvcError} */
  library(): Promise<string>;
  /** A place for it in the process of all models. */
  model(): ModelHandle;
  /**
   * Path of the file of a model that is a reference, downloaded where that is allowed; undefined: the model library has to find it.
   * @throws {ProcessFailure} `not-ready` where it would have to be downloaded
   */
  locate?(how: {
    download: boolean;
    signal: AbortSignal;
    onProgress(progress: { doneBytes: number; totalBytes: number }): void;
  }): Promise<string | undefined>;
  /** Called when a download begins and at each tenth of it. */
  log(message: string): void;
  idleMs: number;
}

export interface ReadyModel {
  handle: ModelHandle;
  opened: OpenedModel;
}

/** A download that brings nothing for so long will bring nothing. */
const SILENT_DOWNLOAD_MS = 120_000;

/** A model from its first use to its unloading: opened when it is wanted, unloaded when nobody used it for a while, opened anew after its process ended. */
export class ModelLife {
  readonly #options: ModelLifeOptions;
  readonly #ending = new Set<Promise<void>>();
  #current: { handle: ModelHandle; opened?: OpenedModel; opening?: Promise<OpenedModel> } | undefined;
  #download: { doneBytes: number; totalBytes: number } | undefined;
  /** The file is there. */
  #isLoading = false;
  /** Calls of `ready` under way: what is being fetched or loaded is in use, whoever waits for it. */
  #readying = 0;
  #isResting = false;
  #idle: NodeJS.Timeout | undefined;
  #isClosed = false;
  readonly #closing = new AbortController();
  /** Called when a download has begun or gone on. */
  onDownload: () => void = () => undefined;

  constructor(options: ModelLifeOptions) {
    this.#options = options;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get isDownloading(): boolean {
    return this.#download !== undefined;
  }

  /** As it was loaded last; undefined before the first time. */
  opened: OpenedModel | undefined;

  /**
   * The model, loaded. Those who ask meanwhile wait for the same loading.
   * @param download whether it may be downloaded
   * @throws {ProcessFailure} and what `library` throws
   */
  async ready(download: boolean): Promise<ReadyModel> {
    clearTimeout(this.#idle);
    this.#isResting = false;
    this.#readying++;
    try {
      return await this.#readyNow(download);
    } finally {
      this.#readying--;
      if (this.#isResting) this.rest();
    }
  }

  async #readyNow(download: boolean): Promise<ReadyModel> {
    if (this.#current && !this.#current.handle.isUsable) this.#retire();
    const library = await this.#options.library();
    if (this.#isClosed) throw closedFailure();
    this.#current ??= { handle: this.#options.model() };
    const current = this.#current;
    try {
      if (!current.opened) {
        current.opening ??= this.#open(current.handle, { library, download });
        current.opened = await current.opening;
        this.opened = current.opened;
      }
      return { handle: current.handle, opened: current.opened };
    } catch (error) {
      // A place that only lacks the file is of use as soon as the file is there; any other is not worth keeping.
      if (!(error instanceof ProcessFailure && error.fault === "not-ready") && this.#current === current) this.#retire();
      throw error;
    } finally {
      delete current.opening;
    }
  }

  /** Nobody uses it for now: it is unloaded after a while, unless it is used again. While it is being opened, that while begins when it is open. */
  rest(): void {
    clearTimeout(this.#idle);
    this.#isResting = true;
    if (this.#readying === 0 && this.#current && !this.#isClosed)
      this.#idle = setTimeout(() => this.#retire(), this.#options.idleMs).unref();
  }

  /** How far it is on its way to this machine, as a clause. */
  notReadyText(): string {
    if (!this.#download) return "is not on this machine yet";
    if (this.#isLoading) return "is being loaded";
    const { doneBytes, totalBytes } = this.#download;
    return `is being downloaded${totalBytes > 0 ? ` (${Math.floor((doneBytes / totalBytes) * 100)} % of ${megabytes(totalBytes)})` : ""}`;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#closing.abort(closedFailure());
    clearTimeout(this.#idle);
    this.#retire();
    await Promise.all(this.#ending);
  }

  async #open(handle: ModelHandle, { library, download }: { library: string; download: boolean }): Promise<OpenedModel> {
    const onProgress = this.#watchDownload();
    const { request, loadMs, locate } = this.#options;
    const { signal } = this.#closing;
    try {
      const path = await locate?.({ download, signal, onProgress: (progress) => void onProgress(progress) });
      if (path !== undefined) this.#isLoading = true;
      const found = path === undefined ? { download } : { model: path, download: false };
      return await handle.open({ ...request, library, ...found }, { what: "the model", limitMs: loadMs, onProgress });
    } catch (error) {
      if (this.#isClosed) throw closedFailure();
      throw error instanceof ProcessFailure && error.fault === "crashed" && this.#isLoading ? diedLoading(error) : error;
    } finally {
      this.#download = undefined;
      this.#isLoading = false;
    }
  }

  #retire(): void {
    const current = this.#current;
    if (!current) return;
    this.#current = undefined;
    const ended = current.handle.end().finally(() => this.#ending.delete(ended));
    this.#ending.add(ended);
  }

  /** Tells of each tenth, once. A download has its own limit; the loading after it has all its time. */
  #watchDownload(): NonNullable<CallOptions["onProgress"]> {
    const { name, log } = this.#options;
    let told = -1;
    return (progress) => {
      if ("loading" in progress) this.#isLoading = true;
      if (!("doneBytes" in progress)) return undefined;
      const { doneBytes, totalBytes } = progress;
      if (!this.#download) log(`downloading the model ${name}`);
      this.#download = progress;
      this.onDownload();
      const tenth = totalBytes > 0 ? Math.floor((doneBytes / totalBytes) * 10) : -1;
      if (tenth > told) log(`model ${name}: ${tenth * 10} % of ${megabytes(totalBytes)}`);
      told = Math.max(told, tenth);
      return { what: "the download of the model", limitMs: SILENT_DOWNLOAD_MS };
    };
  }
}

export function closedFailure(): ProcessFailure {
  return new ProcessFailure("ended", "the model was closed");
}

/** It would die again. */
function diedLoading({ message }: ProcessFailure): ProcessFailure {
  return new ProcessFailure("model", `${message} while it was loading the model; most likely this machine has not enough memory for it`);
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(bytes < 10_000_000 ? 1 : 0)} MB`;
}
