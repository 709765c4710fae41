import assert from "node:assert/strict";
import type { EmbeddingAdapter, EmbeddingContext, EmbeddingProvider } from "../types/embedding.ts";
import { type ContractCase, defineCases, rejectionOf, within } from "./contract.ts";
import { embeddingContext, isEmbeddingError } from "./embedding-context.ts";
import { embeddingFaultCases } from "./embedding-faults.ts";

/** Options for creating the adapter under its contract. */
export interface EmbeddingContractOptions {
  /** Context the adapter needs to work: for a remote one the address and key of a fake of its vendor. */
  context?: Partial<EmbeddingContext>;
}

const texts = [
  "the boiler needs 1.4 bar",
  "a train to the airport",
  "rye flour for the bread",
  "Grüße aus Köln 🙂",
  "the boiler needs 1.4 bar",
];

/**
 * Conformance suite of an embedding adapter, to be called inside `describe`: order, batches, odd inputs, dimensions, norm, abort; for a remote one also
 * what it makes of every status of a vendor, which a loopback server of the suite answers with, and of damaged answers of the vendor at `remote.baseUrl`.
 */
export function embeddingContract(adapter: EmbeddingAdapter, options: EmbeddingContractOptions = {}): void {
  defineCases(embeddingCases(adapter, options));
}

/** The statements of `embeddingContract`, for running them without a test runner. */
export function embeddingCases(adapter: EmbeddingAdapter, { context = {} }: EmbeddingContractOptions = {}): ContractCase[] {
  const make = (name: string, check: (provider: EmbeddingProvider) => Promise<void>): ContractCase => ({
    name,
    async run() {
      const { provider } = await adapter.create(embeddingContext(context));
      try {
        await check(provider);
      } finally {
        await provider.close?.();
      }
    },
  });
  return [
    { name: "it names itself, its model and what its vectors depend on", run: () => checkIdentity(adapter, context) },
    make("one vector per text, in the order of the texts", checkOrder),
    make("vectors are finite, of one length, and of the length and norm it declares", checkVectors),
    make("the same text gives the same vector, as a query and as a document each", checkStability),
    make("vectors of documents are given away: what becomes of their memory changes no later answer", checkOwnership),
    make("no texts give no vectors", async (provider) => assert.deepEqual(await provider.embedBatch([]), [])),
    make("more texts than one request takes", checkLimit),
    make("an empty text gives a vector or is refused as input", (provider) => checkOddInput(provider, "")),
    make("an over-long text gives a vector or is refused as input", (provider) =>
      checkOddInput(provider, "memory ".repeat((provider.maxInputTokens ?? 8_192) * 2)),
    ),
    make("an abort rejects within a second", checkAbort),
    make("it may be closed twice", async (provider) => {
      await provider.close?.();
      await provider.close?.();
    }),
    ...(adapter.transport === "remote" ? embeddingFaultCases(adapter, context) : []),
  ];
}

async function checkIdentity(adapter: EmbeddingAdapter, context: Partial<EmbeddingContext>): Promise<void> {
  const { provider, identity } = await adapter.create(embeddingContext(context));
  await provider.close?.();
  assert.equal(provider.id, adapter.id);
  assert.ok(provider.model !== "" && adapter.defaultModel !== "");
  const told = JSON.stringify(identity);
  assert.ok(told.includes(provider.model), "identity: expected it to hold the model, else vectors of two models share an index");
  const key = context.remote?.apiKey;
  assert.ok(!key || !told.includes(key), "identity holds the key, so that a new key would rebuild the index");
  if (adapter.autoSelectPriority !== undefined) assert.ok(adapter.autoSelectPriority > 0);
}

async function checkOrder(provider: EmbeddingProvider): Promise<void> {
  const vectors = await provider.embedBatch(texts);
  assert.equal(vectors.length, texts.length);
  for (const [i, text] of texts.entries()) {
    const [alone] = await provider.embedBatch([text]);
    assert.ok(cosine(vectors[i], alone) > 0.999, `text ${i} got the vector of another one`);
  }
  assert.ok(cosine(vectors[0], vectors[1]) < 0.999, "texts that differ get the same vector");
}

async function checkVectors(provider: EmbeddingProvider): Promise<void> {
  const vectors = [...(await provider.embedBatch(texts)), await provider.embedQuery("boiler pressure")];
  const dims = provider.dims ?? vectors[0]?.length;
  for (const vector of vectors) {
    assert.ok(vector instanceof Float32Array, "expected a Float32Array");
    assert.equal(vector.length, dims, "length of a vector");
    assert.ok(vector.every(Number.isFinite), "a component is not finite");
    if (provider.normalized) assert.ok(Math.abs(norm(vector) - 1) < 1e-3, `declared of length 1, got ${norm(vector)}`);
  }
}

async function checkOwnership(provider: EmbeddingProvider): Promise<void> {
  const given = await provider.embedBatch(texts);
  const kept = given.map((vector) => Float32Array.from(vector));
  for (const vector of given) vector.fill(0);
  // Smaller pieces may be lent out by Node to several and are copied, never moved.
  const pieces = new Set(given.map(({ buffer }) => buffer as ArrayBuffer).filter(({ byteLength }) => byteLength > Buffer.poolSize));
  for (const piece of pieces) structuredClone(piece, { transfer: [piece] });
  const again = await provider.embedBatch(texts);
  for (const [i, vector] of again.entries()) assert.ok(cosine(vector, kept[i]) > 0.999, `text ${i + 1} has another vector`);
}

async function checkStability(provider: EmbeddingProvider): Promise<void> {
  const [first, again] = [await provider.embedQuery(texts[0] as string), await provider.embedQuery(texts[0] as string)];
  assert.ok(cosine(first, again) > 0.999, "a query gave two vectors");
  const vectors = await provider.embedBatch(texts);
  assert.ok(cosine(vectors[0], vectors[4]) > 0.999, "a document gave two vectors");
}

async function checkLimit(provider: EmbeddingProvider): Promise<void> {
  const many = Array.from({ length: Math.min((provider.maxItemsPerRequest ?? 64) + 1, 3_000) }, (_, i) => `note number ${i} about things`);
  const vectors = await provider.embedBatch(many);
  assert.equal(vectors.length, many.length);
  const [last] = await provider.embedBatch([many.at(-1) as string]);
  assert.ok(cosine(vectors.at(-1), last) > 0.999, "the last text got the vector of another one");
}

async function checkOddInput(provider: EmbeddingProvider, text: string): Promise<void> {
  const refused = await provider.embedBatch([text]).then(
    (vectors) => void assert.equal(vectors.length, 1),
    (error: unknown) => error,
  );
  if (refused === undefined) return;
  assert.ok(isEmbeddingError(refused), `rejected with ${String(refused)}`);
  assert.ok(["invalid-request", "too-long"].includes(refused.fault), `refused as ${refused.fault}`);
}

async function checkAbort(provider: EmbeddingProvider): Promise<void> {
  const early = rejectionOf(provider.embedBatch(texts, { signal: AbortSignal.abort() }));
  assert.notEqual(await within(early, 1_000, "an aborted call"), undefined, "an aborted call resolved");
  const stop = new AbortController();
  const late = rejectionOf(provider.embedBatch(Array(500).fill(texts[0]), { signal: stop.signal }));
  stop.abort();
  await within(late, 1_000, "a call aborted under way");
}

function cosine(a: Float32Array | undefined, b: Float32Array | undefined): number {
  if (!a || !b || a.length !== b.length) return Number.NaN;
  const product = a.reduce((sum, value, i) => sum + value * (b[i] as number), 0);
  const size = norm(a) * norm(b);
  // Two vectors of length 0 (an adapter may have none for a text) are the same vector.
  return size === 0 ? Number(norm(a) === norm(b)) : product / size;
}

function norm(vector: Float32Array): number {
  return Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
}
