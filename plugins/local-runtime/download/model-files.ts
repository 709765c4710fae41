import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { type LocalModelDownload, type LocalModelSource, type LocalRuntime, messageOf } from "svc/sdk";
import { runtimeErrors } from "../errors.ts";
import { ProcessFailure } from "../runtime-process.ts";
import { DownloadFailure } from "./download-failure.ts";
import { type DownloadDeps, downloadModel } from "./download-model.ts";
import { defaultFolder, type ModelAddress, modelAddress } from "./model-address.ts";

type Progress = { doneBytes: number; totalBytes: number };
type Reference = Extract<LocalModelSource, { kind: "reference" }>;

interface How {
  directory: string | undefined;
  sha256: string | undefined;
  signal: AbortSignal;
  onProgress(progress: Progress): void;
}

/** A download that several may wait for: it ends with the last of them. */
interface Shared {
  done: Promise<void>;
  stop: AbortController;
  waiting: Set<How>;
}

interface FilesOptions extends DownloadDeps {
  env: Readonly<Record<string, string | undefined>>;
}

/** Files of models that the config names by a reference: where they are, and how they get there. */
export class ModelFiles {
  readonly #options: FilesOptions;
  readonly #running = new Map<string, Shared>();

  constructor(options: FilesOptions) {
    this.#options = options;
  }

  /** See `ModelLifeOptions.locate`. */
  async locate(source: Reference, { download, ...how }: How & { download: boolean }): Promise<string | undefined> {
    const address = modelAddress(source, this.#options.env);
    if (!address) return undefined;
    const path = join(how.directory ?? defaultFolder(), address.fileName);
    if (await isFile(path)) return path;
    if (!download) throw new ProcessFailure("not-ready", `there is no file ${path}`);
    how.onProgress({ doneBytes: 0, totalBytes: 0 });
    try {
      await this.#join(address, path, how);
    } catch (error) {
      if (!(error instanceof DownloadFailure)) throw how.signal.aborted ? how.signal.reason : error;
      throw new ProcessFailure(error.fault, `the model cannot be downloaded: ${error.message}`);
    }
    return path;
  }

  /** See `LocalRuntime.download`. */
  async download(
    { source, directory, sha256 }: LocalModelDownload,
    { signal, onProgress = () => undefined }: Parameters<LocalRuntime["download"]>[1],
  ): Promise<{ path: string; bytes: number }> {
    const failed = (reason: string, cause?: unknown) => runtimeErrors.modelNotDownloaded({ name: source.name, reason }, { cause });
    if (source.kind === "file") {
      if (!(await isFile(source.path))) throw failed("it is a file, and there is none of this name");
      return { path: source.path, bytes: (await stat(source.path)).size };
    }
    const address = modelAddress(source, this.#options.env);
    if (!address)
      throw failed("expected hf:<owner>/<repo>/<file>.gguf, or an http(s) address of one .gguf file; others come with the first document");
    const path = join(directory ?? defaultFolder(), address.fileName);
    try {
      if (!(await isFile(path))) await this.#join(address, path, { directory, sha256, signal, onProgress });
      return { path, bytes: (await stat(path)).size };
    } catch (error) {
      signal.throwIfAborted();
      throw failed(messageOf(error), error);
    }
  }

  async #join(address: ModelAddress, path: string, how: How): Promise<void> {
    const shared = this.#running.get(path) ?? this.#begin(address, path, how);
    shared.waiting.add(how);
    let left: () => void = () => undefined;
    const ended = new Promise<never>((_, reject) => {
      left = () => reject(how.signal.reason);
      if (how.signal.aborted) left();
      how.signal.addEventListener("abort", left, { once: true });
    });
    try {
      await Promise.race([shared.done, ended]);
    } finally {
      how.signal.removeEventListener("abort", left);
      shared.waiting.delete(how);
      if (shared.waiting.size === 0) shared.stop.abort(new DOMException("nobody waits for the model any more", "AbortError"));
    }
  }

  #begin(address: ModelAddress, path: string, { sha256 }: How): Shared {
    const stop = new AbortController();
    const waiting = new Set<How>();
    const onProgress = (progress: Progress) => {
      for (const one of waiting) one.onProgress(progress);
    };
    const work = async () => {
      const options = { sha256, token: await tokenOf(this.#options.env), signal: stop.signal, onProgress };
      await downloadModel(address, path, { deps: this.#options, options });
    };
    const done = work().finally(() => this.#running.delete(path));
    done.catch(() => undefined);
    const shared = { done, stop, waiting };
    this.#running.set(path, shared);
    return shared;
  }
}

/** The token of the hub, where its own tools look for one. */
async function tokenOf(env: FilesOptions["env"]): Promise<string | undefined> {
  const { HF_TOKEN, HF_TOKEN_PATH, HF_HOME, XDG_CACHE_HOME, HOME } = env;
  if (HF_TOKEN) return HF_TOKEN;
  const home = HF_HOME || (XDG_CACHE_HOME || HOME ? join(XDG_CACHE_HOME || join(HOME ?? "", ".cache"), "huggingface") : undefined);
  const path = HF_TOKEN_PATH || (home === undefined ? undefined : join(home, "token"));
  const text = path === undefined ? "" : (await readFile(path, "utf8").catch(() => "")).trim();
  return text === "" || /\s/.test(text) ? undefined : text;
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}
