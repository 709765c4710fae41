import { type Clock, checkedVectors, type EmbeddingProvider, type EmbedOptions } from "svc/sdk";
import { ownFault, toEmbeddingError } from "./call-fault.ts";
import { createSlots, type Slots } from "./call-slots.ts";
import type { EmbedReply } from "./client-protocol.ts";
import { CallGivenUp, type ClientLease } from "./client-threads.ts";
import { fitQuery, itemsPerCall, type Purpose } from "./families.ts";
import type { ModelChoice } from "./model-choice.ts";

/** Time limits of one call as a whole. */
export interface CallLimits {
  queryMs: number;
  batchMs: number;
}

/** Requests for documents at once; most models take one text each, and the vendor throttles by requests. A query does not wait for them. */
const MAX_REQUESTS = 4;

export type ClosableProvider = EmbeddingProvider & { close(): Promise<void> };

interface Parts {
  choice: ModelChoice;
  lease: ClientLease;
  limits: CallLimits;
  clock: Clock;
  /** Texts that no message may show. */
  secrets: readonly string[];
}

/** A provider of one model over the thread of an AWS client. */
export function createProvider(id: string, parts: Parts): ClosableProvider {
  const { modelId, family, dims, maxInputTokens } = parts.choice;
  const calls = new Calls(id, parts);
  return {
    id,
    model: modelId,
    ...(dims === undefined ? {} : { dims }),
    normalized: true,
    ...(maxInputTokens === undefined ? {} : { maxInputTokens }),
    maxItemsPerRequest: itemsPerCall(family),
    embedQuery: (text, options) => calls.query(text, options),
    embedBatch: (texts, options) => calls.documents(texts, options),
    close: () => calls.close(),
  };
}

class Calls {
  readonly #id: string;
  readonly #choice: ModelChoice;
  readonly #lease: ClientLease;
  readonly #limits: CallLimits;
  readonly #clock: Clock;
  readonly #secrets: readonly string[];
  readonly #slots: Slots = createSlots(MAX_REQUESTS);
  readonly #stop = new AbortController();
  /** Number of dimensions; for a model that is not in the catalogue, that of the first vector. */
  #dims: number | undefined;

  constructor(id: string, { choice, lease, limits, clock, secrets }: Parts) {
    this.#id = id;
    this.#choice = choice;
    this.#lease = lease;
    this.#limits = limits;
    this.#clock = clock;
    this.#secrets = secrets;
    this.#dims = choice.dims;
  }

  async query(text: string, options: EmbedOptions = {}): Promise<Float32Array> {
    const work = async (signal: AbortSignal) => [await this.#request([fitQuery(text, this.#choice.family)], "query", signal)];
    const [vector] = await this.#limited(work, this.#limits.queryMs, options);
    return vector as Float32Array;
  }

  documents(texts: readonly string[], options: EmbedOptions = {}): Promise<Float32Array[]> {
    return this.#limited((signal) => this.#requests(texts, signal), this.#limits.batchMs, options);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#lease.release();
  }

  /** Limits a call and tells why it failed. */
  async #limited(work: (signal: AbortSignal) => Promise<EmbedReply[]>, limitMs: number, options: EmbedOptions): Promise<Float32Array[]> {
    const limit = AbortSignal.timeout(limitMs);
    const failed = new AbortController();
    const signals = [limit, failed.signal, this.#stop.signal, ...(options.signal ? [options.signal] : [])];
    try {
      const replies = await work(AbortSignal.any(signals));
      const counted = replies.flatMap(({ tokens }) => tokens ?? []);
      if (counted.length > 0) options.onUsage?.(counted.reduce((sum, tokens) => sum + tokens, 0));
      return replies.flatMap(({ vectors }) => vectors);
    } catch (error) {
      failed.abort();
      options.signal?.throwIfAborted();
      if (error instanceof CallGivenUp) throw toEmbeddingError(error.failure, this.#clock.now(), this.#secrets);
      if (this.#stop.signal.aborted) throw ownFault("network", "the provider was closed");
      if (limit.aborted) throw ownFault("timeout", `no answer within ${limitMs / 1000} s`);
      throw error;
    }
  }

  /** As many requests as the texts need, in any order; the first that fails ends them all. */
  async #requests(texts: readonly string[], signal: AbortSignal): Promise<EmbedReply[]> {
    signal.throwIfAborted();
    const size = itemsPerCall(this.#choice.family);
    const groups = Array.from({ length: Math.ceil(texts.length / size) }, (_, i) => texts.slice(i * size, (i + 1) * size));
    const replies: EmbedReply[] = [];
    const todo = groups.entries();
    const work = async () => {
      for (const [i, group] of todo) replies[i] = await this.#slots(() => this.#request(group, "document", signal), signal);
    };
    await Promise.all(Array.from({ length: Math.min(MAX_REQUESTS, groups.length) }, work));
    return replies;
  }

  async #request(texts: string[], purpose: Purpose, signal: AbortSignal): Promise<EmbedReply> {
    const { modelId, family, askedDims } = this.#choice;
    const reply = await this.#lease.embed({ modelId, family, purpose, dims: askedDims, texts }, signal);
    const vectors = checkedVectors(reply.vectors, { adapter: this.#id, count: texts.length, dims: this.#dims });
    this.#dims ??= vectors[0]?.length;
    return { ...reply, vectors };
  }
}
