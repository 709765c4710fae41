import { type FakeClock, fakeClock } from "svc/sdk/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createTestAdapter, failing, type TestAdapter, wordVector } from "../test-adapter.ts";
import type { ProviderSettings } from "./provider-settings.ts";
import { createTestHost, providerSettings, type TestHost } from "./test-host.ts";
import { createTextEmbedder, type TextEmbedder } from "./text-embedder.ts";

let host: TestHost<FakeClock>;
let acme: TestAdapter;
let spare: TestAdapter;
let embedder: TextEmbedder;
beforeEach(() => {
  host = createTestHost(fakeClock());
  acme = createTestAdapter("acme", { autoSelectPriority: 200 });
  spare = createTestAdapter("spare");
  host.offer(acme.adapter, { isOutside: true });
  host.offer(spare.adapter, { isOutside: true });
  embedder = createTextEmbedder(host);
});
afterEach(() => embedder.close());

const embed = (own: Partial<ProviderSettings>, options: Parameters<TextEmbedder["embed"]>[2] = {}) =>
  embedder.embed({ agentId: "main", settings: providerSettings({ requested: "acme", ...own }) }, ["one", "two"], options);

test("the agent's model and length are used, unless the caller names others", async () => {
  const own = { model: "acme-large", outputDimensionality: 8 };
  expect(await embed(own)).toMatchObject({ provider: "acme", model: "acme-large", tokens: 2, vectors: [{ length: 8 }, { length: 8 }] });
  expect(await embed(own, { model: "acme-tiny", dimensions: 4 })).toMatchObject({
    model: "acme-tiny",
    vectors: [{ length: 4 }, { length: 4 }],
  });
});

test("texts are embedded as documents, in order", async () => {
  await embed({});
  expect([acme.documents, acme.queries]).toEqual([["one", "two"], []]);
});

test("one provider is kept for each model and length, sixteen at most, and none after a change", async () => {
  await embed({});
  await embed({});
  expect(acme.created).toHaveLength(1);
  for (let i = 0; i < 17; i++) await embed({}, { model: `acme-${i}` });
  expect([acme.created.length, acme.closed]).toEqual([18, [1, 2]]);
  embedder.forget();
  await embed({}, { model: "acme-16" });
  expect(acme.created).toHaveLength(19);
  await host.clock.advance(0);
  expect(acme.closed).toHaveLength(18);
});

test("a change of the config ends no call that is under way", async () => {
  let answer: (vectors: Float32Array[]) => void = () => undefined;
  acme.fault = () =>
    new Promise((resolve) => {
      answer = resolve;
    });
  const embedding = embed({});
  await host.clock.advance(0);
  embedder.forget();
  await host.clock.advance(0);
  expect(acme.closed).toEqual([]);
  answer([wordVector("one", 64), wordVector("two", 64)]);
  expect(await embedding).toMatchObject({ vectors: [{ length: 64 }, { length: 64 }] });
  await host.clock.advance(0);
  expect(acme.closed).toEqual([1]);
});

describe("nobody but the agent's own provider embeds", () => {
  test("another one is refused by name", async () => {
    await expect(embed({}, { provider: "spare" })).rejects.toMatchObject({ code: "embedding-provider-not-allowed" });
    expect(await embed({}, { provider: "acme" })).toMatchObject({ provider: "acme" });
  });

  test("a vendor goes by its own name, too", async () => {
    const maker = createTestAdapter("acme", { autoSelectPriority: 200, vendor: "acme-cloud" });
    host.offer(maker.adapter, { isOutside: true, isLazy: true });
    host.withdraw("acme");
    for (const requested of ["acme", "auto"]) {
      expect(await embed({ requested }, { provider: "acme-cloud", model: "large" })).toMatchObject({ provider: "acme", model: "large" });
      await expect(embed({ requested }, { provider: "other-cloud" })).rejects.toMatchObject({ code: "embedding-provider-not-allowed" });
    }
  });

  test("with auto that is the detected one", async () => {
    for (const provider of ["auto", "acme"]) expect(await embed({ requested: "auto" }, { provider })).toMatchObject({ provider: "acme" });
    await expect(embed({ requested: "auto" }, { provider: "spare" })).rejects.toMatchObject({ code: "embedding-provider-not-allowed" });
  });

  test("when it fails its fault is the answer, also where the index has a fallback", async () => {
    acme.fault = failing("overloaded", "acme: 503", { status: 503 });
    await expect(embed({ fallback: "spare" })).rejects.toMatchObject({ fault: "overloaded", message: "acme: 503" });
    acme.fault = async () => [];
    await expect(embed({ fallback: "spare" })).rejects.toMatchObject({ fault: "bad-response" });
    expect(spare.created).toEqual([]);
  });
});

test.each<[string, Partial<ProviderSettings>]>([
  ["auto and nobody has a key", { requested: "auto" }],
  ["none", { requested: "none" }],
  ["one that no plugin offers", { requested: "other" }],
])("without a provider it is missing: %s", async (_, own) => {
  host.withdraw("acme");
  await expect(embed(own)).rejects.toMatchObject({ code: "embedding-provider-missing", message: "no embedding provider is configured" });
});

test("a caller that leaves ends the call", async () => {
  const stop = new AbortController();
  let ended = false;
  acme.fault = ({ signal }) =>
    new Promise((_, reject) => {
      signal?.addEventListener("abort", () => {
        ended = true;
        reject(signal.reason);
      });
      stop.abort(new Error("gone"));
    });
  await expect(embed({}, { signal: stop.signal })).rejects.toThrow("gone");
  expect(ended).toBe(true);
});
