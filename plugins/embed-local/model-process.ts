import type { ChildProcess } from "node:child_process";
import { EmbeddingError, startChild, workerUrl } from "svc/sdk";
import type { FromProcess, OpenedModel, OpenRequest, ToProcess } from "./protocol.ts";

/** One process with one model. It does one thing at a time; who asks waits for the answer before asking again. */
export interface ModelProcess {
  /** False once it has ended or was told to. */
  readonly isUsable: boolean;
  /** @throws {EmbeddingError} */
  open(request: OpenRequest): Promise<OpenedModel>;
  /** @throws {EmbeddingError} `timeout` after 60 s, and then the process is gone */
  embed(text: string): Promise<Float32Array>;
  /** Frees the model; kills the process when that takes more than 5 s. */
  end(): Promise<void>;
}

export interface ModelProcessOptions {
  /** Name of the model in messages. */
  name: string;
  env: Readonly<Record<string, string>>;
  /** A download has begun or gone on; `totalBytes` is 0 while it is not known. */
  onDownload(doneBytes: number, totalBytes: number): void;
  log(message: string): void;
}

/** Half a minute for a model of some GB from a slow disk, and then as much again. */
const LOAD_MS = 60_000;
/** A download that brings nothing for so long will bring nothing. */
const SILENT_DOWNLOAD_MS = 120_000;
/** 2,048 tokens on one slow core take some seconds. */
const EMBED_MS = 60_000;
const END_MS = 5_000;
const MAX_STDERR_CHARS = 2_000;

export function startModelProcess(options: ModelProcessOptions): ModelProcess {
  return new OwnedProcess(options);
}

type Answer = Exclude<FromProcess, { downloading: unknown } | { log: string }>;

interface Waiting {
  resolve(answer: Answer): void;
  reject(error: Error): void;
}

class OwnedProcess implements ModelProcess {
  readonly #child: ChildProcess;
  readonly #options: ModelProcessOptions;
  readonly #ended: Promise<void>;
  #waiting: Waiting | undefined;
  #limit: NodeJS.Timeout | undefined;
  #stderr = "";
  #isOver = false;

  constructor(options: ModelProcessOptions) {
    this.#options = options;
    const onStderr = (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-MAX_STDERR_CHARS);
    };
    this.#child = startChild(workerUrl(import.meta.url, "./llama.worker"), { env: options.env, onStderr });
    this.#child.on("message", (message: FromProcess) => this.#receive(message));
    this.#ended = new Promise((resolve) => {
      const over = (reason: string) => {
        this.#isOver = true;
        const said = this.#stderr.trim().split("\n").at(-1)?.slice(0, 300);
        this.#fail(new EmbeddingError("overloaded", `local: the process of the model ended (${reason})${said ? `: ${said}` : ""}`));
        resolve();
      };
      this.#child.on("error", (error) => over(error.message));
      this.#child.once("exit", (code, signal) => over(signal ? `signal ${signal}` : `exit code ${code}`));
    });
  }

  get isUsable(): boolean {
    return !this.#isOver;
  }

  async open(request: OpenRequest): Promise<OpenedModel> {
    const answer = await this.#ask({ open: request }, LOAD_MS);
    if ("opened" in answer) return answer.opened;
    throw unexpected();
  }

  async embed(text: string): Promise<Float32Array> {
    const answer = await this.#ask({ embed: text }, EMBED_MS);
    if ("vector" in answer) return answer.vector;
    throw unexpected();
  }

  async end(): Promise<void> {
    if (!this.#isOver) this.#send({ close: true });
    this.#isOver = true;
    const kill = setTimeout(() => this.#child.kill("SIGKILL"), END_MS);
    await this.#ended;
    clearTimeout(kill);
  }

  #ask(message: ToProcess, limitMs: number): Promise<Answer> {
    if (this.#isOver) return Promise.reject(new EmbeddingError("overloaded", "local: the process of the model is ending"));
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#limitTo(limitMs, "the model");
      this.#send(message);
    });
  }

  #send(message: ToProcess): void {
    // A process that has just ended says so by `exit`; what cannot be sent is no second fault.
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }

  #receive(message: FromProcess): void {
    if ("log" in message) return this.#options.log(message.log);
    if ("downloading" in message) {
      if (!this.#waiting) return;
      this.#limitTo(SILENT_DOWNLOAD_MS, "the download of the model");
      return this.#options.onDownload(message.downloading.doneBytes, message.downloading.totalBytes);
    }
    const waiting = this.#settled();
    if ("failed" in message)
      waiting?.reject(new EmbeddingError(message.failed.fault, `local: ${this.#options.name}: ${message.failed.message}`));
    else waiting?.resolve(message);
  }

  #limitTo(limitMs: number, what: string): void {
    clearTimeout(this.#limit);
    this.#limit = setTimeout(() => {
      this.#isOver = true;
      this.#child.kill("SIGKILL");
      this.#fail(new EmbeddingError("timeout", `local: ${what} did not answer within ${limitMs / 1_000} s`));
    }, limitMs);
  }

  #fail(error: EmbeddingError): void {
    this.#settled()?.reject(error);
  }

  #settled(): Waiting | undefined {
    clearTimeout(this.#limit);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    return waiting;
  }
}

function unexpected(): EmbeddingError {
  return new EmbeddingError("bad-response", "local: the process of the model gave another answer than was asked for");
}
