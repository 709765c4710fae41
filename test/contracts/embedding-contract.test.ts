import { type EmbeddingAdapter, type EmbeddingContext, EmbeddingError, type EmbeddingFault, type EmbeddingProvider } from "svc/sdk";
import { embeddingCases } from "svc/sdk/testing";
import { expect, test } from "vitest";
import { createHashingAdapter, embed } from "../../examples/plugin-embedding/src/hashing.ts";
import { failing, outcomeOf } from "./_mutants.ts";

/** A small remote adapter: every text goes to the vendor, whose answer has to be a list of vectors. */
function createRemoteAdapter(
  change: { keyInErrors?: boolean; fault?: (status: number) => EmbeddingFault; deaf?: boolean } = {},
): EmbeddingAdapter {
  const faultOf = change.fault ?? ((status: number) => (status === 401 ? "auth" : status === 429 ? "rate-limit" : "overloaded"));
  const call = async ({ remote }: EmbeddingContext, texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]> => {
    signal?.throwIfAborted();
    if (remote?.baseUrl === undefined) return texts.map((text) => embed(text, 32));
    const headers = { authorization: `Bearer ${remote.apiKey}`, connection: "close" };
    const init = { method: "POST", body: JSON.stringify(texts), headers, ...(signal && !change.deaf ? { signal } : {}) };
    const response = await fetch(remote.baseUrl, init).catch((error: unknown) => {
      signal?.throwIfAborted();
      throw new EmbeddingError("network", "the vendor cannot be reached", { cause: error });
    });
    const text = await response.text();
    const retryAfter = response.headers.get("retry-after");
    if (!response.ok) {
      const said = change.keyInErrors ? text : text.replaceAll(remote.apiKey ?? "", "[redacted]");
      throw new EmbeddingError(faultOf(response.status), said, {
        status: response.status,
        ...(retryAfter ? { retryAfterMs: Number(retryAfter) * 1_000 } : {}),
      });
    }
    if (!Array.isArray(JSON.parse(text))) throw new EmbeddingError("bad-response", "the vendor's answer is no list");
    return (JSON.parse(text) as number[][]).map((vector) => Float32Array.from(vector));
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

test("a local and a remote adapter that keep the contract pass every case", async () => {
  expect(await failing(embeddingCases(createHashingAdapter()))).toEqual([]);
  expect(await failing(embeddingCases(createRemoteAdapter()))).toEqual([]);
});

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
