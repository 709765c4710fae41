import { EmbeddingError, type LocalEmbedder, messageOf } from "svc/sdk";
import { ModelLife, type ModelLifeOptions } from "./model-life.ts";
import { ProcessFailure } from "./runtime-process.ts";
import { createWaitingTexts, type TextKind } from "./waiting-texts.ts";

/** One model for whoever embeds with it. It computes one text at a time. */
export type EmbedModel = Pick<LocalEmbedder, "embed" | "close">;

/** 2,048 tokens on one slow core take some seconds. */
const EMBED_MS = 60_000;

export function createEmbedModel(options: ModelLifeOptions): EmbedModel {
  return new Model(options);
}

class Model implements EmbedModel {
  readonly #name: string;
  readonly #life: ModelLife;
  readonly #waiting = createWaitingTexts();
  #isWorking = false;

  constructor(options: ModelLifeOptions) {
    this.#name = options.name;
    this.#life = new ModelLife(options);
    // Queries that wait are told that the model is not there.
    this.#life.onDownload = () => this.#waiting.reject(this.#notReady(), "query");
  }

  embed(text: string, { kind, signals }: { kind: TextKind; signals: readonly AbortSignal[] }): Promise<Float32Array> {
    if (this.#life.isClosed) return Promise.reject(closed());
    if (kind === "query" && this.#life.isDownloading) return Promise.reject(this.#notReady());
    const vector = this.#waiting.add(text, kind, signals);
    void this.#work();
    return vector;
  }

  /** Rejects calls in progress and closes. 5 s at most. */
  async close(): Promise<void> {
    this.#waiting.reject(closed());
    await this.#life.close();
  }

  async #work(): Promise<void> {
    if (this.#isWorking) return;
    this.#isWorking = true;
    for (let next = this.#waiting.take(); next; next = this.#waiting.take()) {
      try {
        next.resolve(await this.#vectorOf(next.text, next.kind));
      } catch (error) {
        next.reject(this.#life.isClosed ? closed() : this.#toEmbeddingError(error));
      }
    }
    this.#isWorking = false;
    this.#life.rest();
  }

  async #vectorOf(text: string, kind: TextKind): Promise<Float32Array> {
    const { handle } = await this.#life.ready(kind === "document");
    const answer = await handle.call((key) => ({ embed: key, text }), { what: "the model", limitMs: EMBED_MS }).result;
    if ("vector" in answer) return answer.vector;
    throw new ProcessFailure("bad-response", "the process gave another answer than was asked for");
  }

  #notReady(): EmbeddingError {
    const how = this.#life.isDownloading ? "" : "; the next sync of the index downloads it";
    return new EmbeddingError("not-ready", `local: the model ${this.#name} ${this.#life.notReadyText()}${how}`);
  }

  #toEmbeddingError(error: unknown): EmbeddingError {
    if (!(error instanceof ProcessFailure)) return new EmbeddingError("model", `local: ${messageOf(error)}`, { cause: error });
    if (error.fault === "not-ready") return this.#notReady();
    if (error.fault === "timeout") return new EmbeddingError("timeout", `local: ${error.message}`);
    if (error.fault === "ended" || error.fault === "crashed" || error.fault === "aborted")
      return new EmbeddingError("overloaded", `local: ${error.message}`);
    return new EmbeddingError(error.fault, `local: ${this.#name}: ${error.message}`);
  }
}

function closed(): EmbeddingError {
  return new EmbeddingError("overloaded", "local: the model was closed");
}
