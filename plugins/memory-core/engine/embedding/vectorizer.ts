import type { Database } from "../database.ts";
import type { MediaContent } from "../documents.ts";
import type { Pacer } from "../pacer.ts";
import { embeddedHash, embeddedText, type Passage } from "../passages.ts";
import type { PassageVector } from "../writer.ts";
import type { OpenIndex, QueuedWrite } from "../writing.ts";
import { createEmbeddingCache, type EmbeddingCache } from "./cache.ts";
import type { Embedder, EmbedRun } from "./embedder.ts";
import { createKnownVectors, type KnownVectors } from "./known-vectors.ts";
import { createEmbedQueue, type EmbedQueue } from "./queue.ts";

/** Plan by which a sync gets its vectors. */
export interface VectorPlan {
  /** `none`: keyword-only; `later`: passages are marked as waiting for their vectors; else who embeds. */
  by:
    | "none"
    | "later"
    | { embedder: Embedder; run: EmbedRun; useCache: boolean /** Texts are marked, only media are embedded now. */; isLater: boolean };
  /** Longest text of one passage. */
  maxTextBytes: number | undefined;
  /** Index with vectors of the same provider and model: what it has need not be embedded. */
  known: Database | undefined;
}

export interface Vectorizer {
  /** Calls `ready` with one entry a passage, at once or as answers come; returns when there is room for more. */
  vectorsOf(
    passages: readonly Passage[],
    done: { ready(vectors: readonly PassageVector[]): void; skip(reason: string): void },
  ): Promise<void>;
  /** `later`: nobody embeds it at present, or the file has just changed. */
  mediaVector(media: MediaContent): Promise<Float32Array | { skipped: string } | "later">;
  /** Resolves when everything is ready. */
  drain(): Promise<void>;
}

const IN_FLIGHT = 4;
const STEP_LOOKUPS = 64;
/** Vectors shorter than this point nowhere. */
const MIN_NORM = 1e-10;

export interface VectorizerOptions {
  plan: VectorPlan;
  pacer: Pacer;
  now(): number;
  /** Called after each answer: time to write what became ready, and what the cache is to remember. */
  answered(remember: QueuedWrite | undefined): Promise<void>;
}

export function createVectorizer(index: OpenIndex, options: VectorizerOptions): Vectorizer {
  const { by, known } = options.plan;
  if (by === "none") return withoutProvider((passages) => passages.map(() => "none"));
  const lookup = createLookup(known && createKnownVectors(known), options.pacer);
  if (by === "later") return withoutProvider(async (passages) => (await lookup(passages, index.vectors.dims)).map(orPending));
  return new EmbeddingVectorizer(index, by, { ...options, lookup });
}

/** Converts a verdict to the vector columns of a passage. */
export function toPassageVector(verdict: Float32Array | { skipped: string } | undefined): PassageVector {
  if (verdict === undefined) return "pending";
  return verdict instanceof Float32Array && isDirected(verdict) ? verdict : "none";
}

type Lookup = (passages: readonly Passage[], dims: number | undefined) => Promise<Array<Float32Array | undefined>>;

/** Looks up what is known, some passages at a time. */
function createLookup(known: KnownVectors | undefined, pacer: Pacer): Lookup {
  return async (passages, dims) => {
    const found: Array<Float32Array | undefined> = [];
    for (const [at, passage] of passages.entries()) {
      found.push(known?.find(passage, dims));
      if (at % STEP_LOOKUPS === STEP_LOOKUPS - 1) await pacer.breathe();
    }
    return found;
  };
}

function orPending(vector: Float32Array | undefined): PassageVector {
  return vector ?? "pending";
}

function withoutProvider(mark: (passages: readonly Passage[]) => PassageVector[] | Promise<PassageVector[]>): Vectorizer {
  return {
    vectorsOf: async (passages, { ready }) => ready(await mark(passages)),
    mediaVector: () => Promise.resolve("later"),
    drain: () => Promise.resolve(),
  };
}

class EmbeddingVectorizer implements Vectorizer {
  readonly #by: Exclude<VectorPlan["by"], string>;
  readonly #queue: EmbedQueue;
  readonly #lookup: Lookup;
  readonly #cache: EmbeddingCache | undefined;
  readonly #fresh: Array<{ hash: string; vector: Float32Array }> = [];

  constructor(
    { db, vectors }: OpenIndex,
    by: Exclude<VectorPlan["by"], string>,
    { now, answered, lookup }: Pick<VectorizerOptions, "now" | "answered"> & { lookup: Lookup },
  ) {
    this.#by = by;
    this.#lookup = lookup;
    const { embedder, run } = by;
    run.dims ??= vectors.dims;
    this.#cache = by.useCache ? createEmbeddingCache(db, embedder.provider, now) : undefined;
    this.#queue = createEmbedQueue({
      maxItems: embedder.maxItems,
      maxBytes: embedder.maxRequestBytes,
      maxInFlight: IN_FLIGHT,
      embed: (texts) => embedder.embedTexts(texts, run),
      answered: () => answered(this.#remember()),
    });
  }

  async vectorsOf(passages: readonly Passage[], { ready, skip }: Parameters<Vectorizer["vectorsOf"]>[1]): Promise<void> {
    const { embedder, run, isLater } = this.#by;
    const known = await this.#lookup(passages, embedder.provider.dims ?? run.dims);
    run.dims ??= known.find((vector) => vector !== undefined)?.length;
    if (isLater) return ready(known.map(orPending));
    const texts = passages.map((passage) => embeddedText(passage, embedder.maxTextBytes));
    const hashes = this.#cache ? texts.map(embeddedHash) : [];
    const cached = this.#cache?.lookup(
      hashes.filter((_, at) => known[at] === undefined),
      embedder.provider.dims ?? run.dims,
    );
    const found: PassageVector[] = passages.map(() => "none");
    let left = passages.length;
    const settle = (at: number, verdict: Float32Array | { skipped: string } | undefined) => {
      const vector = toPassageVector(verdict);
      found[at] = vector;
      if (verdict && "skipped" in verdict) skip(verdict.skipped);
      if (--left === 0) ready(found);
    };
    if (left === 0) return ready([]);
    for (const [at, text] of texts.entries()) {
      const hash = hashes[at];
      const vector = known[at] ?? (hash === undefined ? undefined : cached?.get(hash));
      if (vector) settle(at, vector);
      else this.#queue.add({ text, settle: (verdict) => this.#settled(hash, verdict, () => settle(at, verdict)) });
    }
    await this.#queue.room();
  }

  async mediaVector(media: MediaContent): Promise<Float32Array | { skipped: string } | "later"> {
    const { embedder, run } = this.#by;
    if (!embedder.provider.multimodal || embedder.pausedBy !== undefined) return "later";
    const data = media.bytes();
    if (!data) return "later";
    return (await embedder.embedMedia({ text: media.label, mime: media.mime, data }, run)) ?? "later";
  }

  drain(): Promise<void> {
    return this.#queue.drain();
  }

  #settled(hash: string | undefined, verdict: Float32Array | { skipped: string } | undefined, settle: () => void): void {
    if (hash !== undefined && verdict instanceof Float32Array && isDirected(verdict)) this.#fresh.push({ hash, vector: verdict });
    settle();
  }

  #remember(): QueuedWrite | undefined {
    const cache = this.#cache;
    const fresh = this.#fresh.splice(0);
    if (!cache || fresh.length === 0) return undefined;
    const run = () => fresh.map(({ hash, vector }) => cache.store(hash, vector));
    return { rows: fresh.length, run };
  }
}

function isDirected(vector: Float32Array): boolean {
  let sum = 0;
  for (let i = 0; i < vector.length; i++) sum += (vector[i] as number) ** 2;
  return Math.sqrt(sum) >= MIN_NORM;
}
