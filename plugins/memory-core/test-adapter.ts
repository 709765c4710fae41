import { definePlugin, type EmbeddingAdapter, type EmbeddingContext, EmbeddingError, type OpenedEmbedding } from "svc/sdk";

/** Test embedding adapter whose vectors count words, with every fault available. */
export interface TestAdapter {
  readonly adapter: EmbeddingAdapter;
  /** A plugin that registers it and nothing else. */
  readonly plugin: ReturnType<typeof definePlugin>;
  /** Contexts of `create`, in order. */
  readonly created: EmbeddingContext[];
  /** Queries that were embedded or refused. */
  readonly queries: string[];
  readonly documents: string[];
  /** Providers that were closed. */
  readonly closed: number[];
  /** Thrown by `create` while it is set. */
  createFault: unknown;
  /** Replaces the answer of a call while it is set. */
  fault: ((call: { texts: readonly string[]; signal: AbortSignal | undefined }) => Promise<Float32Array[]>) | undefined;
}

export interface TestAdapterOptions extends Partial<EmbeddingAdapter> {
  dims?: number;
  /** Joins the identity. */
  identity?: Record<string, unknown>;
  provider?: Partial<OpenedEmbedding["provider"]>;
}

export function createTestAdapter(id: string, { dims = 64, identity = {}, provider = {}, ...over }: TestAdapterOptions = {}): TestAdapter {
  const made: TestAdapter = {
    created: [],
    queries: [],
    documents: [],
    closed: [],
    createFault: undefined,
    fault: undefined,
    adapter: {
      id,
      transport: "remote",
      defaultModel: `${id}-small`,
      ...over,
      async create(context) {
        made.created.push(context);
        if (made.createFault !== undefined) throw made.createFault;
        return open(made, context, { dims, identity, provider });
      },
    },
    get plugin() {
      return definePlugin<unknown>({
        id: `embed-test-${id}`,
        version: "1.0.0",
        svc: { api: "^1.0.0" },
        setup: (ctx) => void ctx.registerEmbeddingAdapter(made.adapter),
      }) as ReturnType<typeof definePlugin>;
    },
  };
  return made;
}

type Opening = { dims: number; identity: Record<string, unknown>; provider: Partial<OpenedEmbedding["provider"]> };

function open(made: TestAdapter, context: EmbeddingContext, { dims: own, identity, provider }: Opening): OpenedEmbedding {
  const { id, defaultModel } = made.adapter;
  const model = context.model ?? defaultModel;
  const dims = context.outputDimensionality ?? own;
  const at = made.created.length;
  const run = async (texts: readonly string[], signal: AbortSignal | undefined) => {
    signal?.throwIfAborted();
    return made.fault ? made.fault({ texts, signal }) : texts.map((text) => wordVector(text, dims));
  };
  return {
    identity: { id, model, dims, baseUrl: context.remote?.baseUrl, ...identity },
    provider: {
      id,
      model,
      dims,
      normalized: true,
      async embedQuery(text, options) {
        made.queries.push(text);
        return (await run([text], options?.signal))[0] as Float32Array;
      },
      async embedBatch(texts, options) {
        made.documents.push(...texts);
        options?.onUsage?.(texts.length);
        return run(texts, options?.signal);
      },
      async close() {
        if (!made.closed.includes(at)) made.closed.push(at);
      },
      ...provider,
    },
  };
}

/** Words that mean the same here, so that a vector can find what no word does. */
const synonyms: Record<string, string> = { automobile: "car", quick: "fast", rapid: "fast" };

/** Unit vector of a text: one hashed bucket a word. */
export function wordVector(text: string, dims: number): Float32Array {
  const vector = new Float32Array(dims);
  for (const word of text.toLowerCase().match(/[a-z0-9]+/g) ?? []) {
    let hash = 7;
    for (const char of synonyms[word] ?? word) hash = (Math.imul(hash, 31) + char.charCodeAt(0)) >>> 0;
    vector[hash % dims] = (vector[hash % dims] as number) + 1;
  }
  const norm = Math.hypot(...vector) || 1;
  return vector.map((value) => value / norm);
}

/** A call that ends with its signal only. */
export const hang: NonNullable<TestAdapter["fault"]> = ({ signal }) =>
  new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason), { once: true }));

/** A call that fails. */
export function failing(...args: ConstructorParameters<typeof EmbeddingError>): NonNullable<TestAdapter["fault"]> {
  return async () => {
    throw new EmbeddingError(...args);
  };
}
