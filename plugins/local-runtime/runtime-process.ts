import type { ChildProcess } from "node:child_process";
import { startChild, workerUrl } from "svc/sdk";
import type { FromProcess, ProcessCall, ProcessFault, Progress } from "./messages.ts";

/** The process that runs models, for the time that it lives. Calls run side by side. */
export interface RuntimeProcess {
  /** False once it has ended or was told to. */
  readonly isUsable: boolean;
  /** @throws {ProcessFailure}; aborting rejects with the signal's reason at once, and `settled` says when the process has let go */
  call(call: ProcessCall, options: CallOptions): PendingCall;
  /** Frees everything; kills the process when that takes more than 5 s. */
  end(): Promise<void>;
}

export interface PendingCall {
  result: Promise<Answer>;
  /** Resolves when nothing of it runs any more. */
  settled: Promise<void>;
}

export interface CallOptions {
  /** Subject of the message when it takes too long. */
  what: string;
  /** Longest wait for the answer or for the next sign of progress; then the process is killed. */
  limitMs: number;
  signal?: AbortSignal;
  /** Another limit from the return value on, where there is one. */
  onProgress?(progress: Progress): { what: string; limitMs: number } | undefined;
}

export type Answer = Extract<FromProcess, { done: unknown }>["done"];

/** Why a call failed: its own fault, a limit, or the end of the process; `crashed`: it ended although nobody had told it to. */
export class ProcessFailure extends Error {
  readonly fault: ProcessFault["fault"] | "timeout" | "ended" | "crashed";
  constructor(fault: ProcessFailure["fault"], message: string) {
    super(message);
    this.fault = fault;
  }
}

interface Pending {
  options: CallOptions;
  limit: NodeJS.Timeout | undefined;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
  settle(): void;
}

const END_MS = 5_000;
/** A call that was stopped ends with the step that it is in. */
const ABORT_MS = 60_000;
const MAX_STDERR_CHARS = 2_000;

export interface RuntimeProcessOptions {
  env: Readonly<Record<string, string>>;
  log(message: string): void;
}

export function startRuntimeProcess(options: RuntimeProcessOptions): RuntimeProcess {
  return new OwnedProcess(options);
}

class OwnedProcess implements RuntimeProcess {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  readonly #pending = new Map<number, Pending>();
  #nextId = 0;
  #stderr = "";
  #isOver = false;

  constructor({ env, log }: RuntimeProcessOptions) {
    const onStderr = (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-MAX_STDERR_CHARS);
    };
    this.#child = startChild(workerUrl(import.meta.url, "./llama.worker"), { env, onStderr });
    this.#child.on("message", (message: FromProcess) => ("log" in message ? log(message.log) : this.#receive(message)));
    this.#ended = new Promise((resolve) => {
      const over = (fault: "ended" | "crashed", reason: string) => {
        this.#isOver = true;
        const said = this.#stderr.trim().split("\n").at(-1)?.slice(0, 300);
        this.#failAll(new ProcessFailure(fault, `the process of the models ended (${reason})${said ? `: ${said}` : ""}`));
        resolve();
      };
      this.#child.on("error", (error) => over("ended", error.message));
      this.#child.once("exit", (code, signal) =>
        over(this.#isOver ? "ended" : "crashed", signal ? `signal ${signal}` : `exit code ${code}`),
      );
    });
  }

  get isUsable(): boolean {
    return !this.#isOver;
  }

  call(call: ProcessCall, options: CallOptions): PendingCall {
    const { signal } = options;
    if (this.#isOver) return refused(new ProcessFailure("ended", "the process of the models is ending"));
    if (signal?.aborted) return refused(signal.reason);
    const id = this.#nextId++;
    const pending: Pending = { options, limit: undefined, resolve: ignore, reject: ignore, settle: ignore };
    const settled = new Promise<void>((resolve) => {
      pending.settle = resolve;
    });
    const result = new Promise<Answer>((resolve, reject) => Object.assign(pending, { resolve, reject }));
    const abort = () => {
      pending.reject(signal?.reason);
      this.#send({ abort: id });
      this.#limitTo(pending, { what: `${options.what}, which was stopped,`, limitMs: ABORT_MS });
    };
    signal?.addEventListener("abort", abort, { once: true });
    void settled.then(() => signal?.removeEventListener("abort", abort));
    this.#pending.set(id, pending);
    this.#limitTo(pending, options);
    this.#send({ id, call });
    return { result, settled };
  }

  async end(): Promise<void> {
    if (!this.#isOver) this.#send({ close: true });
    this.#isOver = true;
    const kill = setTimeout(() => this.#child.kill("SIGKILL"), END_MS);
    await this.#ended;
    clearTimeout(kill);
  }

  #send(message: object): void {
    // A process that has just ended says so by `exit`; what cannot be sent is no second fault.
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }

  #receive(message: Exclude<FromProcess, { log: string }>): void {
    const pending = this.#pending.get(message.id);
    if (!pending) return;
    if ("progress" in message) {
      if (pending.options.signal?.aborted) return;
      this.#limitTo(pending, pending.options.onProgress?.(message.progress) ?? pending.options);
      return;
    }
    this.#pending.delete(message.id);
    clearTimeout(pending.limit);
    if ("failed" in message) pending.reject(new ProcessFailure(message.failed.fault, message.failed.message));
    else pending.resolve(message.done);
    pending.settle();
  }

  #limitTo(pending: Pending, { what, limitMs }: { what: string; limitMs: number }): void {
    clearTimeout(pending.limit);
    pending.limit = setTimeout(() => {
      this.#isOver = true;
      pending.reject(new ProcessFailure("timeout", `${what} did not answer within ${limitMs / 1_000} s`));
      this.#child.kill("SIGKILL");
    }, limitMs);
  }

  #failAll(error: ProcessFailure): void {
    for (const { limit, reject, settle } of this.#pending.values()) {
      clearTimeout(limit);
      reject(error);
      settle();
    }
    this.#pending.clear();
  }
}

function refused(error: unknown): PendingCall {
  return { result: Promise.reject(error), settled: Promise.resolve() };
}

const ignore = () => undefined;
