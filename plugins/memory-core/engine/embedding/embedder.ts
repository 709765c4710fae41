import type { ProviderFacts } from "../../index-settings.ts";
import type { WorkerNews } from "../../worker-protocol.ts";
import { EmbedFault, type Host } from "../host.ts";
import { embedGroup, type RequestScope, type Verdict } from "./request.ts";
import { type Wait, withRetries } from "./retry.ts";

export interface EmbedderParts {
  provider: ProviderFacts;
  host: Host;
  tell(news: WorkerNews): void;
  wait?: Wait | undefined;
}

/** State of one sync about the vectors it writes. */
export interface EmbedRun {
  signal: AbortSignal;
  /** Length of the vectors in the index that is written. */
  dims: number | undefined;
}

/** Longest text in bytes, whatever the provider takes. */
const MAX_TEXT_BYTES = 8_000;
const MAX_ITEMS = 128;
/** A request of a provider that tells no limit, and never less than its longest text. */
const REQUEST_BYTES = 8_000;
/** The main thread ends its calls sooner; this only guards against silence. */
const CALL_MS = { remote: 125_000, local: 605_000 };
const PAUSE_MS = 300_000;

/** The provider of an index over many syncs: limits, retries, and a pause once it is of no use. */
export class Embedder {
  readonly provider: ProviderFacts;
  readonly #parts: EmbedderParts;
  #hasSucceeded = false;
  #pause: { untilMs: number; message: string } | undefined;

  constructor(parts: EmbedderParts) {
    this.#parts = parts;
    this.provider = parts.provider;
  }

  get maxTextBytes(): number {
    return Math.min(MAX_TEXT_BYTES, this.provider.maxInputTokens ?? MAX_TEXT_BYTES);
  }

  get maxItems(): number {
    return Math.max(1, Math.min(MAX_ITEMS, this.provider.maxItemsPerRequest ?? MAX_ITEMS));
  }

  get maxRequestBytes(): number {
    return Math.max(this.maxTextBytes, this.provider.maxTokensPerRequest ?? REQUEST_BYTES);
  }

  /** Reason why nothing is embedded at present. */
  get pausedBy(): string | undefined {
    return this.#pause && performance.now() < this.#pause.untilMs ? this.#pause.message : undefined;
  }

  /** Remaining time of the pause. */
  get pauseMs(): number {
    return this.#pause ? Math.max(0, this.#pause.untilMs - performance.now()) : 0;
  }

  /** Ends the pause on request: the next text is tried, whatever happened before. */
  resume(): void {
    this.#pause = undefined;
  }

  /** Vectors of a group, in order; undefined when the provider is of no use at present. @throws what aborted the run */
  embedTexts(texts: string[], run: EmbedRun): Promise<Verdict[] | undefined> {
    return this.#guarded(() => embedGroup(texts, this.#scope(run)));
  }

  /** The vector of one image or sound. */
  async embedMedia(input: { text: string; mime: string; data: Uint8Array }, run: EmbedRun): Promise<Verdict | undefined> {
    const scope = this.#scope(run, () => this.#call("embedMedia", { inputs: [input] }, run));
    const verdicts = await this.#guarded(() => embedGroup([input.text], scope));
    return verdicts?.[0];
  }

  async #guarded(embed: () => Promise<Verdict[]>): Promise<Verdict[] | undefined> {
    if (this.pausedBy !== undefined) return undefined;
    try {
      return await embed();
    } catch (error) {
      if (!(error instanceof EmbedFault)) throw error;
      this.#failed(error);
      return undefined;
    }
  }

  #failed({ fault, message }: EmbedFault): void {
    if (this.pausedBy !== undefined) return;
    this.#pause = { untilMs: performance.now() + PAUSE_MS, message };
    this.#parts.tell({ news: "embedding-failed", provider: this.provider.id, fault, message });
  }

  #scope(run: EmbedRun, embed?: () => Promise<Float32Array[]>): RequestScope {
    return {
      embed: embed ?? ((texts) => this.#call("embed", { texts }, run)),
      probe: (text) => this.#call("embed", { texts: [text] }, run),
      dims: () => this.provider.dims ?? run.dims,
      hasSucceeded: () => this.#hasSucceeded || embed !== undefined,
      succeeded: (dims) => {
        run.dims ??= dims;
        this.#hasSucceeded = true;
      },
      retries: (attempt) => withRetries(attempt, { signal: run.signal, ...(this.#parts.wait ? { wait: this.#parts.wait } : {}) }),
    };
  }

  #call<M extends "embed" | "embedMedia">(method: M, params: Parameters<Host["call"]>[1], { signal }: EmbedRun): Promise<Float32Array[]> {
    return this.#parts.host.call(method, params as never, { timeoutMs: CALL_MS[this.provider.pace], signal });
  }
}
