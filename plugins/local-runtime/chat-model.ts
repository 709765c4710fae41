import { type LocalChat, type LocalChatPiece, type LocalChatRequest, ModelError, type ModelFault, messageOf } from "svc/sdk";
import { ModelLife, type ModelLifeOptions, type ReadyModel } from "./model-life.ts";
import type { ModelHandle } from "./process-owner.ts";
import { ProcessFailure } from "./runtime-process.ts";

/** One model for whoever chats with it. */
export type ChatModel = LocalChat;

/** Conversations whose beginning stays read, and requests that are answered at a time. */
export const SEQUENCES = 2;
/** A request beyond would wait for hours on a slow machine. */
const MAX_WAITING = 32;
/** A part of a prompt, or one token, takes minutes at most. */
const SILENCE_MS = 600_000;

export function createChatModel(options: ModelLifeOptions): ChatModel {
  return new Model(options);
}

class Model implements ChatModel {
  readonly #name: string;
  readonly #life: ModelLife;
  readonly #active = new Set<AbortController>();
  #waiting: Array<() => void> = [];
  #free = SEQUENCES;
  #isFetching = false;
  /** Why the last download failed; the next request is told. */
  #fetchFault: unknown;
  /** Where the last answer was cut off by the end of the process, and none has come to its end since. */
  #lostIn: ModelHandle | undefined;

  constructor(options: ModelLifeOptions) {
    this.#name = options.name;
    this.#life = new ModelLife(options);
  }

  get isClosed(): boolean {
    return this.#life.isClosed;
  }

  contextWindow(): number | undefined {
    return this.#life.opened?.maxTokens;
  }

  async *stream(request: LocalChatRequest, { signal }: { signal: AbortSignal }): AsyncGenerator<LocalChatPiece> {
    if (this.#life.isClosed) throw closed();
    const { stop, release } = this.#stopWith(signal);
    try {
      await this.#takePlace(stop);
      let settled = Promise.resolve();
      try {
        const model = await abortable(this.#ready(), stop);
        const pieces = createPieces();
        const pending = model.handle.call((key) => ({ chat: key, request }), {
          what: "the model",
          limitMs: SILENCE_MS,
          signal: stop,
          onProgress: (progress) => {
            if ("piece" in progress) pieces.add(progress.piece);
            return undefined;
          },
        });
        settled = pending.settled;
        pending.result.then(pieces.end, (error) => pieces.fail(this.#lostTwice(error, model.handle) ?? error));
        yield* pieces.all(stop);
        this.#lostIn = undefined;
      } finally {
        release();
        // The place is free when the process has let go of it, which nobody waits for.
        void settled.then(() => this.#leavePlace());
      }
    } catch (error) {
      signal.throwIfAborted();
      throw this.#toModelError(error);
    } finally {
      release();
    }
  }

  async close(): Promise<void> {
    for (const active of this.#active) active.abort(closed());
    await this.#life.close();
  }

  /** A signal that also aborts when the model is closed or the reader has left (`release`). */
  #stopWith(signal: AbortSignal): { stop: AbortSignal; release(): void } {
    const own = new AbortController();
    const abort = () => own.abort(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    this.#active.add(own);
    const release = () => {
      this.#active.delete(own);
      signal.removeEventListener("abort", abort);
      own.abort(new Error("the reader has left"));
    };
    return { stop: own.signal, release };
  }

  async #takePlace(stop: AbortSignal): Promise<void> {
    stop.throwIfAborted();
    if (this.#free > 0) {
      this.#free--;
      return;
    }
    if (this.#waiting.length >= MAX_WAITING)
      throw new ModelError("overloaded", `local: ${MAX_WAITING} requests are waiting for ${this.#name}; try again later`);
    await new Promise<void>((resolve, reject) => {
      const leave = () => {
        this.#waiting = this.#waiting.filter((other) => other !== enter);
        reject(stop.reason);
      };
      const enter = () => {
        stop.removeEventListener("abort", leave);
        resolve();
      };
      this.#waiting.push(enter);
      stop.addEventListener("abort", leave, { once: true });
    });
  }

  #leavePlace(): void {
    const next = this.#waiting.shift();
    if (next) return next();
    if (++this.#free === SEQUENCES) this.#life.rest();
  }

  /** A model that is not on this machine is fetched, which no request waits for. */
  async #ready(): Promise<ReadyModel> {
    if (this.#isFetching) throw this.#notReady();
    try {
      return await this.#life.ready(false);
    } catch (error) {
      if (!(error instanceof ProcessFailure) || error.fault !== "not-ready") throw error;
      const fault = this.#fetchFault;
      this.#fetchFault = undefined;
      this.#fetch();
      throw fault === undefined ? this.#notReady() : fault;
    }
  }

  #fetch(): void {
    this.#isFetching = true;
    this.#life
      .ready(true)
      .catch((error) => {
        this.#fetchFault = error;
      })
      .finally(() => {
        this.#isFetching = false;
        this.#life.rest();
      });
  }

  /** A process that ends again in the next one's turn would end a third time. Answers that one end has cut off are lost once, all of them. */
  #lostTwice(error: unknown, handle: ModelHandle): ModelError | undefined {
    if (!(error instanceof ProcessFailure) || (error.fault !== "ended" && error.fault !== "crashed")) return undefined;
    const isAgain = this.#lostIn !== undefined && this.#lostIn !== handle;
    this.#lostIn = handle;
    return isAgain
      ? new ModelError("model_not_found", `local: ${this.#name}: ${error.message}, for the second time in a row while it was answering`)
      : undefined;
  }

  #notReady(): ModelError {
    const how = this.#life.isDownloading ? "" : "; its download begins now";
    return new ModelError("overloaded", `local: the model ${this.#name} ${this.#life.notReadyText()}${how}; try again later`);
  }

  #toModelError(error: unknown): ModelError {
    if (error instanceof ModelError) return error;
    if (!(error instanceof ProcessFailure)) return new ModelError("model_not_found", `local: ${messageOf(error)}`, { cause: error });
    return new ModelError(modelFaults[error.fault], `local: ${this.#name}: ${error.message}`);
  }
}

function closed(): ModelError {
  return new ModelError("overloaded", "local: the model was closed");
}

const modelFaults: Readonly<Record<ProcessFailure["fault"], ModelFault>> = {
  "not-ready": "overloaded",
  model: "model_not_found",
  auth: "auth",
  network: "network",
  "invalid-request": "invalid_request",
  "too-long": "context_overflow",
  "bad-response": "overloaded",
  aborted: "overloaded",
  timeout: "timeout",
  ended: "overloaded",
  crashed: "overloaded",
};

/** Rejects at the abort; what it waited for goes on for others. */
async function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let leave: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    leave = () => reject(signal.reason);
    signal.addEventListener("abort", leave, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", leave);
    work.catch(() => undefined);
  }
}

/** Pieces on their way from a callback to one reader; no more than one answer has, and that is bounded by the context. */
function createPieces() {
  const waiting: LocalChatPiece[] = [];
  let outcome: { error?: unknown } | undefined;
  let wake: () => void = () => undefined;
  const settle = (end: { error?: unknown }) => {
    outcome ??= end;
    wake();
  };
  return {
    add(piece: LocalChatPiece) {
      waiting.push(piece);
      wake();
    },
    end: () => settle({}),
    fail: (error: unknown) => settle({ error }),
    /** Nothing that has come meanwhile is given out after an abort. */
    async *all(stop: AbortSignal): AsyncGenerator<LocalChatPiece> {
      for (;;) {
        for (const piece of waiting.splice(0)) {
          stop.throwIfAborted();
          yield piece;
        }
        if (outcome && waiting.length === 0) break;
        await new Promise<void>((resolve) => {
          wake = resolve;
          if (outcome || waiting.length > 0) resolve();
        });
      }
      if ("error" in outcome) throw outcome.error;
    },
  };
}
