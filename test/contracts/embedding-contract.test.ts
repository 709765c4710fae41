import {
  checkedVectors,
  type EmbeddingAdapter,
  type EmbeddingContext,
  EmbeddingError,
  type EmbeddingFault,
  type EmbeddingProvider,
  faultOfStatus,
  readVector,
} from "svc/sdk";
import { embeddingCases } from "svc/sdk/testing";
import { afterAll, expect, test } from "vitest";
import { createHashingAdapter, embed } from "../../examples/plugin-embedding/src/hashing.ts";
import { createFakeOpenAiEmbeddings } from "../fakes/embedding-openai.ts";
import { failing, outcomeOf } from "./_mutants.ts";

/** A small remote adapter: every text goes to the vendor, whose answer has to be a list of vectors. */
function createRemoteAdapter(
  change: { keyInErrors?: boolean; fault?: (status: number, text: string) => EmbeddingFault; deaf?: boolean; trusting?: boolean } = {},
): EmbeddingAdapter {
  const faultOf = change.fault ?? faultOfStatus;
  const call = async ({ remote }: EmbeddingContext, texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]> => {
    signal?.throwIfAborted();
    if (remote?.baseUrl === undefined || texts.length === 0) return texts.map((text) => embed(text, 32));
    const headers = { authorization: `Bearer ${remote.apiKey}`, connection: "close", "content-type": "application/json" };
    const body = JSON.stringify({ model: "m1", input: texts });
    const init = { method: "POST", body, headers, ...(signal && !change.deaf ? { signal } : {}) };
    const response = await fetch(`${remote.baseUrl}/embeddings`, init).catch((error: unknown) => {
      signal?.throwIfAborted();
      throw new EmbeddingError("network", "the vendor cannot be reached", { cause: error });
    });
    const text = await response.text().catch((error: unknown) => {
      throw new EmbeddingError("network", "the answer broke off", { cause: error });
    });
    const retryAfter = response.headers.get("retry-after");
    if (!response.ok) {
      const said = change.keyInErrors ? text : text.replaceAll(remote.apiKey ?? "", "[redacted]");
      throw new EmbeddingError(faultOf(response.status, text), said, {
        status: response.status,
        ...(retryAfter ? { retryAfterMs: Number(retryAfter) * 1_000 } : {}),
      });
    }
    return readVectors(text, change.trusting ? undefined : texts.length);
  };
  return {
    id: "remote",
    transport: "remote",
    defaultModel: "m1",
    create: async (context) => ({
      provider: {
        id: "remote",
        model: "m1",
        dims: 32,
        embedBatch: (texts, options) => call(context, texts, options?.signal),
        embedQuery: async (text, options) => (await call(context, [text], options?.signal))[0] as Float32Array,
      },
      identity: { adapter: "remote", model: "m1" },
    }),
  };
}

/** @param count vectors there have to be; undefined: whatever there is is taken for what was asked for */
function readVectors(text: string, count: number | undefined): Float32Array[] {
  const wrong = new EmbeddingError("bad-response", "the vendor's answer is not what was asked for");
  let answer: { data?: Array<{ embedding?: unknown }> };
  try {
    answer = JSON.parse(text) as typeof answer;
  } catch {
    throw wrong;
  }
  const found = (answer.data ?? []).map((item) => readVector(item.embedding));
  if (count === undefined) return found.filter((vector) => vector !== undefined);
  return checkedVectors(found, { adapter: "remote", count, dims: 32 });
}

/** The hashing adapter with something wrong in its provider. */
function changed(change: (own: EmbeddingProvider) => Partial<EmbeddingProvider>): EmbeddingAdapter {
  const own = createHashingAdapter();
  return {
    ...own,
    create: async (context) => {
      const { provider, identity } = await own.create(context);
      return { provider: { ...provider, ...change(provider) }, identity };
    },
  };
}

const vendor = await createFakeOpenAiEmbeddings({ dims: 32 });
afterAll(() => vendor.close());
const context = { remote: { baseUrl: vendor.url, apiKey: vendor.apiKey } };

test("a local and a remote adapter that keep the contract pass every case", async () => {
  expect(await failing(embeddingCases(createHashingAdapter()))).toEqual([]);
  expect(await failing(embeddingCases(createRemoteAdapter()))).toEqual([]);
  expect(await failing(embeddingCases(createRemoteAdapter(), { context }))).toEqual([]);
});

test.each([
  "an answer is bad-response when a vector is missing",
  "an answer is bad-response when a vector is too short",
  "an answer is bad-response when a number is none",
])("an adapter that takes every answer for good fails the case that says: %s", async (expected) => {
  expect(await outcomeOf(embeddingCases(createRemoteAdapter({ trusting: true }), { context }), expected)).toEqual(expect.any(String));
});

const owned = "vectors of documents are given away: what becomes of their memory changes no later answer";
const whole = "vectors are finite, of one length, and of the length and norm it declares";

test.each<[string, EmbeddingAdapter, string]>([
  ["calls itself otherwise", changed(() => ({ id: "other" })), "it names itself, its model and what its vectors depend on"],
  [
    "leaves the model out of its identity",
    { ...createHashingAdapter(), create: async (c) => ({ ...(await createHashingAdapter().create(c)), identity: {} }) },
    "it names itself, its model and what its vectors depend on",
  ],
  [
    "turns the order round",
    changed((own) => ({ embedBatch: async (t) => (await own.embedBatch(t)).reverse() })),
    "one vector per text, in the order of the texts",
  ],
  [
    "forgets a text",
    changed((own) => ({ embedBatch: async (t) => (await own.embedBatch(t)).slice(1) })),
    "one vector per text, in the order of the texts",
  ],
  [
    "gives every text the same vector",
    changed((own) => ({ embedBatch: (t) => own.embedBatch(t.map(() => "same")) })),
    "one vector per text, in the order of the texts",
  ],
  [
    "keeps the vectors that it gave",
    changed((own) => {
      const kept = new Map<string, Promise<Float32Array>>();
      const once = (text: string) => kept.get(text) ?? (kept.set(text, own.embedQuery(text)).get(text) as Promise<Float32Array>);
      return { embedBatch: (t) => Promise.all(t.map(once)) };
    }),
    owned,
  ],
  [
    "lends the memory that it works in",
    changed((own) => {
      const scratch = new Float32Array(100_000);
      return {
        embedBatch: async (t) => {
          const vectors = await own.embedBatch(t);
          const size = vectors[0]?.length ?? 0;
          for (const [i, vector] of vectors.entries()) scratch.set(vector, i * size);
          return vectors.map((_, i) => scratch.subarray(i * size, (i + 1) * size));
        },
      };
    }),
    owned,
  ],
  ["declares another length", changed(() => ({ dims: 7 })), whole],
  [
    "declares unit vectors and gives longer ones",
    changed((own) => ({ embedBatch: async (t) => (await own.embedBatch(t)).map((v) => v.map((x) => x * 2)) })),
    whole,
  ],
  [
    "gives a vector with a hole",
    changed((own) => ({ embedBatch: async (t) => (await own.embedBatch(t)).map((v) => v.fill(Number.NaN)) })),
    whole,
  ],
  [
    "gives plain arrays",
    changed((own) => ({ embedBatch: async (t) => (await own.embedBatch(t)).map((v) => [...v]) as unknown as Float32Array[] })),
    whole,
  ],
  [
    "gives a query a new vector each time",
    changed((own) => ({ embedQuery: (text) => own.embedQuery(`${text} ${Math.random()}`) })),
    "the same text gives the same vector, as a query and as a document each",
  ],
  [
    "cannot do without texts",
    changed((own) => ({ embedBatch: async (t) => (t.length === 0 ? Promise.reject(new Error("empty")) : own.embedBatch(t)) })),
    "no texts give no vectors",
  ],
  [
    "stops at the size of one request",
    changed((own) => ({ maxItemsPerRequest: 10, embedBatch: async (t) => own.embedBatch(t.slice(0, 10)) })),
    "more texts than one request takes",
  ],
  [
    "fails an empty text as a broken network",
    changed((own) => ({ embedBatch: failEmpty(own) })),
    "an empty text gives a vector or is refused as input",
  ],
  ["does not hear an abort", changed((own) => ({ embedBatch: (t) => own.embedBatch(t) })), "an abort rejects within a second"],
  ["cannot be closed twice", changed(() => ({ close: closedOnce() })), "it may be closed twice"],
  ["shows its key", createRemoteAdapter({ keyInErrors: true }), "401 of the vendor is auth, and the message shows no key"],
  [
    "takes a refused key for a busy vendor",
    createRemoteAdapter({ fault: () => "overloaded" }),
    "401 of the vendor is auth, and the message shows no key",
  ],
  [
    "takes a limit for a refused key",
    createRemoteAdapter({ fault: () => "auth" }),
    "429 of the vendor is rate-limit, and the message shows no key",
  ],
  [
    "takes a broken vendor for a refused key",
    createRemoteAdapter({ fault: () => "auth" }),
    "503 of the vendor is overloaded, and the message shows no key",
  ],
  [
    "takes an empty account for a busy vendor",
    createRemoteAdapter({ fault: (status) => faultOfStatus(status, "") }),
    "429 of the vendor about money is quota, and the message shows no key",
  ],
  [
    "takes a missing model for a broken vendor",
    createRemoteAdapter({ fault: () => "overloaded" }),
    "404 of the vendor is model, and the message shows no key",
  ],
  [
    "takes a long request for a wrong one",
    createRemoteAdapter({ fault: () => "invalid-request" }),
    "413 of the vendor is too-long, and the message shows no key",
  ],
  ["waits for a silent vendor", createRemoteAdapter({ deaf: true }), "an abort does not wait for a silent vendor"],
])("an adapter that %s fails the case that says so", async (_name, adapter, expected) => {
  expect(await outcomeOf(embeddingCases(adapter), expected)).toEqual(expect.any(String));
});

function failEmpty(own: EmbeddingProvider): EmbeddingProvider["embedBatch"] {
  return async (texts) => {
    if (texts.includes("")) throw new EmbeddingError("network", "no answer");
    return own.embedBatch(texts);
  };
}

function closedOnce(): () => Promise<void> {
  let closed = false;
  return async () => {
    if (closed) throw new Error("closed already");
    closed = true;
  };
}
