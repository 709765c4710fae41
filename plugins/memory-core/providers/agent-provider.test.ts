import { EmbeddingError } from "svc/sdk";
import { type FakeClock, fakeClock } from "svc/sdk/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ProviderAssignment } from "../open-memory-index.ts";
import { createTestAdapter, failing, hang, type TestAdapter, wordVector } from "../test-adapter.ts";
import { type AgentProvider, createAgentProvider } from "./agent-provider.ts";
import type { ProviderSettings } from "./provider-settings.ts";
import { createTestHost, providerSettings, type TestHost } from "./test-host.ts";

const MINUTE = 60_000;
let host: TestHost<FakeClock>;
let primary: TestAdapter;
let other: TestAdapter;
let provider: AgentProvider;
let told: ProviderAssignment[];

beforeEach(() => {
  host = createTestHost(fakeClock());
  primary = createTestAdapter("openai");
  other = createTestAdapter("voyage");
  host.offer(primary.adapter);
  host.offer(other.adapter);
  told = [];
});
afterEach(() => provider.close());

function start(own: Partial<ProviderSettings> = {}): Promise<void> {
  provider = createAgentProvider(host, {
    agentId: "main",
    settings: providerSettings({ requested: "openai", ...own }),
    onAssignment: (assignment) => void told.push(assignment),
  });
  return provider.ready();
}

const signal = () => new AbortController().signal;
const query = (text: string) => provider.calls.embedQuery({ text }, signal());
const documents = () => provider.calls.embed({ texts: ["a"] }, signal());
const failedQueries = async (count: number) => {
  for (let i = 0; i < count; i++) await expect(query(`q${i}`)).rejects.toThrow();
  await host.clock.advance(0);
};
const failedIndexing = async (from: string, message = "503 from the vendor", fault = "overloaded") => {
  provider.indexingFailed({ news: "embedding-failed", provider: from, fault, message });
  await host.clock.advance(0);
};
const ids = () => told.map((one) => one.provider?.id ?? null);

describe("queries", () => {
  test("asked again within five minutes cost no call, 256 of them at most", async () => {
    await start();
    const first = await query("router");
    expect(await query("router")).toBe(first);
    expect(primary.queries).toEqual(["router"]);
    for (let i = 0; i < 256; i++) await query(`other ${i}`);
    await query("router");
    expect(primary.queries.filter((text) => text === "router")).toHaveLength(2);
    await host.clock.advance(5 * MINUTE);
    await query("router");
    expect(primary.queries.filter((text) => text === "router")).toHaveLength(3);
  });

  test.each([
    ["a remote provider", {}, 1],
    ["a local one", { transport: "local" }, 5],
    ["a server that loads its models", { provider: { loadsModel: true } }, 5],
  ] as const)("of %s end in time, documents after twice as long", async (_name, own, minutes) => {
    const slow = createTestAdapter("slow", own);
    slow.fault = hang;
    host.offer(slow.adapter);
    await start({ requested: "slow" });
    for (const [ask, limit, what] of [
      [() => query("x"), minutes, "a query"],
      [documents, 2 * minutes, "texts"],
    ] as const) {
      let isOver = false;
      const asked = ask().catch((error: unknown) => {
        isOver = true;
        return error;
      });
      await host.clock.advance(limit * MINUTE - 1);
      expect(isOver).toBe(false);
      await host.clock.advance(1);
      expect(await asked).toMatchObject({ fault: "timeout", message: `slow: ${what}: no answer within ${limit * 60} s` });
    }
  });

  test("given up by the search are ended at the vendor too", async () => {
    let ended = false;
    primary.fault = ({ signal: s }) => {
      s?.addEventListener("abort", () => {
        ended = true;
      });
      return hang({ texts: [], signal: s });
    };
    await start();
    const stop = new AbortController();
    const asked = provider.calls.embedQuery({ text: "x" }, stop.signal).catch((error: unknown) => error);
    stop.abort(new Error("enough"));
    await asked;
    expect(ended).toBe(true);
  });
});

describe("what comes back", () => {
  test.each<[string, Float32Array[], string]>([
    ["too few vectors", [], "openai: expected 1 vectors, got 0"],
    ["an empty one", [new Float32Array(0)], "openai: expected a vector, got none"],
    ["another length", [new Float32Array(3).fill(1)], "openai: expected 64 dimensions, got 3"],
    ["what is no number", [new Float32Array(64).fill(Number.NaN)], "openai: a vector holds what is no number"],
    ["an infinite one", [new Float32Array(64).fill(Number.POSITIVE_INFINITY)], "openai: a vector holds what is no number"],
  ])("%s is refused", async (_, vectors, message) => {
    primary.fault = async () => vectors;
    await start();
    await expect(documents()).rejects.toMatchObject({ fault: "bad-response", message });
  });

  test("has length 1 afterwards, unless it has no direction", async () => {
    primary = createTestAdapter("openai", { dims: 2, provider: { normalized: false } });
    host.offer(primary.adapter);
    await start();
    primary.fault = async () => [Float32Array.of(3, 4)];
    const [unit] = await documents();
    expect([...(unit ?? [])].map((value) => value.toFixed(3))).toEqual(["0.600", "0.800"]);
    primary.fault = async () => [Float32Array.of(0, 0)];
    expect(await documents()).toEqual([Float32Array.of(0, 0)]);
  });
});

describe("without a fallback", () => {
  test("two failed queries are a blip, three make a pause of five minutes in which nobody is called and words are searched", async () => {
    await start();
    primary.fault = failing("overloaded", "openai: 503");
    await failedQueries(2);
    expect(ids()).toEqual(["openai"]);
    await failedQueries(1);
    expect(told.at(-1)).toEqual({ provider: null, keepVectors: true, reason: "openai: 503" });
    expect(provider.view()).toMatchObject({ state: "provider", provider: "openai", outage: "openai: 503" });
    const calls = primary.queries.length;
    await expect(query("again")).rejects.toMatchObject({ fault: "overloaded" });
    await expect(documents()).rejects.toMatchObject({ fault: "overloaded" });
    expect([primary.queries.length, primary.documents.length]).toEqual([calls, 0]);

    await host.clock.advance(5 * MINUTE + 1);
    expect(ids()).toEqual(["openai", null, "openai"]);
    await failedQueries(1);
    expect(ids()).toEqual(["openai", null, "openai", null]);
  });

  test("a success in between starts the count anew", async () => {
    await start();
    primary.fault = failing("overloaded", "503");
    await failedQueries(2);
    primary.fault = undefined;
    await query("works");
    primary.fault = failing("overloaded", "503");
    await failedQueries(2);
    expect(ids()).toEqual(["openai"]);
  });

  test("faults of one text and a model that is not there yet are no outage", async () => {
    await start();
    for (const fault of ["not-ready", "invalid-request", "too-long"] as const) {
      primary.fault = failing(fault, fault);
      await failedQueries(4);
    }
    expect(ids()).toEqual(["openai"]);
  });

  const giveUp = async (afterMs: number, text = `${Math.random()}`) => {
    const stop = new AbortController();
    const asked = provider.calls.embedQuery({ text }, stop.signal).catch(() => undefined);
    await host.clock.advance(afterMs);
    stop.abort(new Error("late"));
    await asked;
    await host.clock.advance(0);
  };

  describe("searches that give up on a server that loads its model", () => {
    let server: TestAdapter;
    let loaded: () => void;
    beforeEach(async () => {
      server = createTestAdapter("slow", { provider: { loadsModel: true } });
      host.offer(server.adapter);
      await start({ requested: "slow" });
    });

    test("are no outage, and one query goes on until the model is there", async () => {
      const load = new Promise<void>((resolve) => {
        loaded = resolve;
      });
      server.fault = async (call) => {
        await Promise.race([load, hang(call)]);
        return call.texts.map((text) => wordVector(text, 64));
      };
      await giveUp(4_000, "first");
      for (let i = 0; i < 4; i++) await giveUp(4_000, "second");
      expect(ids()).toEqual(["slow"]);
      expect(provider.view().error).toBe("slow: no answer within the time of the search (4000 ms); it may be loading its model");
      expect(server.queries).toEqual(["first", "first", "second", "second", "second", "second"]);

      loaded();
      await host.clock.advance(0);
      expect(provider.view().error).toBeUndefined();
      await query("first");
      expect(server.queries).toHaveLength(6);
    });

    test("count when not even the load comes to an end", async () => {
      server.fault = hang;
      for (let i = 0; i < 3; i++) {
        await giveUp(4_000);
        await host.clock.advance(5 * MINUTE);
      }
      expect(told.at(-1)).toMatchObject({ provider: null, reason: "slow: a query: no answer within 300 s" });
    });
  });

  test("searches that give up on a silent vendor count, those of a local model and quick ones do not", async () => {
    await start();
    primary.fault = hang;
    for (let i = 0; i < 4; i++) await giveUp(500);
    expect(ids()).toEqual(["openai"]);
    for (let i = 0; i < 3; i++) await giveUp(4_000);
    expect(told.at(-1)).toMatchObject({ provider: null, reason: "openai: no answer within the time of the search (4000 ms)" });
  });

  test("retries that are used up while indexing make the pause at once", async () => {
    await start();
    await failedIndexing("openai");
    expect(told.at(-1)).toEqual({ provider: null, keepVectors: true, reason: "503 from the vendor" });
    await host.clock.advance(5 * MINUTE + 1);
    expect(ids()).toEqual(["openai", null, "openai"]);
  });

  test("a rejected key ends all calls until config or a secret changes, not after any time", async () => {
    host.secrets.key = "wrong";
    await start({ remote: { baseUrl: undefined, apiKeyPaths: ["key"], headerPaths: {} } });
    primary.fault = failing("auth", "openai: key rejected", { status: 401 });
    await failedQueries(1);
    expect(told.at(-1)).toEqual({ provider: null, keepVectors: true, reason: "openai: key rejected" });
    await host.clock.advance(24 * 60 * MINUTE);
    await failedQueries(2);
    await provider.forced();
    await failedQueries(1);
    expect(primary.queries).toHaveLength(1);

    const settings = providerSettings({ requested: "openai", remote: { baseUrl: undefined, apiKeyPaths: ["key"], headerPaths: {} } });
    provider.update(settings);
    await provider.ready();
    expect(primary.created).toHaveLength(1);
    host.secrets.key = "right";
    primary.fault = undefined;
    provider.update(settings);
    await provider.ready();
    expect(primary.created.map(({ remote }) => remote?.apiKey)).toEqual(["wrong", "right"]);
    expect(ids()).toEqual(["openai", null, "openai"]);
    await query("works");
  });

  test("a whole new index that somebody asks for ends a pause", async () => {
    await start();
    await failedIndexing("openai");
    await provider.forced();
    expect(ids()).toEqual(["openai", null, "openai"]);
  });
});

describe("with a fallback", () => {
  beforeEach(() => start({ fallback: "voyage", model: "text-embedding-3-large" }));

  test("three failed queries switch to it in the background, one or two do not", async () => {
    primary.fault = failing("overloaded", "openai: 503");
    await failedQueries(2);
    expect(provider.view()).toMatchObject({ provider: "openai" });
    await failedQueries(1);
    expect(told.at(-1)).toMatchObject({ provider: { id: "voyage", model: "voyage-small", fallbackFor: "openai" }, keepVectors: true });
    expect(provider.view()).toMatchObject({ provider: "voyage", fallback: { from: "openai", reason: "openai: 503" } });
    expect(other.created[0]).not.toHaveProperty("model");
    expect(primary.closed).toEqual([1]);
  });

  test("used-up retries while indexing switch at once; news about another provider change nothing", async () => {
    await failedIndexing("gemini");
    expect(ids()).toEqual(["openai"]);
    await failedIndexing("openai");
    expect(ids()).toEqual(["openai", "voyage"]);
  });

  test("a rejected key is not used again while failed queries are counted", async () => {
    primary.fault = failing("auth", "openai: key rejected");
    await failedQueries(3);
    expect([primary.queries.length, ids()]).toEqual([1, ["openai", "voyage"]]);
  });

  test("there is one switch: when the fallback fails too it is left alone for five minutes", async () => {
    await failedIndexing("openai");
    await failedIndexing("voyage", "voyage: 503");
    expect(told.at(-1)).toEqual({ provider: null, keepVectors: true, reason: "voyage: 503" });
    await host.clock.advance(5 * MINUTE + 1);
    expect(ids()).toEqual(["openai", "voyage", null, "voyage"]);
    expect([primary.created.length, other.created.length]).toEqual([1, 1]);
  });

  test("it stays for an hour; then the primary is tried, and taken only if it answers", async () => {
    primary.fault = failing("overloaded", "503");
    await failedIndexing("openai");
    await host.clock.advance(59 * MINUTE);
    expect(primary.created).toHaveLength(1);
    await host.clock.advance(2 * MINUTE);
    expect([primary.created.length, primary.queries.length, ids()]).toEqual([2, 1, ["openai", "voyage"]]);
    primary.fault = undefined;
    await host.clock.advance(60 * MINUTE);
    expect(ids()).toEqual(["openai", "voyage", "openai"]);
    expect(provider.view()).not.toHaveProperty("fallback");
    expect(other.closed).toEqual([1]);
    await failedIndexing("openai");
    expect(ids()).toEqual(["openai", "voyage", "openai", "voyage"]);
  });

  test("a whole new index that somebody asks for tries the primary at once", async () => {
    await failedIndexing("openai");
    await provider.forced();
    expect(ids()).toEqual(["openai", "voyage", "openai"]);
  });

  test("that cannot be opened leaves the primary, and status has both messages", async () => {
    other.createFault = new EmbeddingError("no-credentials", "voyage: no key");
    await failedIndexing("openai", "openai: 503");
    expect(told.at(-1)).toMatchObject({ provider: null, keepVectors: true });
    expect(provider.view()).toMatchObject({ provider: "openai", error: "openai: 503; fallback: voyage: no key" });
    await host.clock.advance(5 * MINUTE + 1);
    expect(ids().at(-1)).toBe("openai");
  });
});

describe("changes", () => {
  test("other settings choose anew, equal ones do not, and the thread hears only of another provider", async () => {
    await start();
    provider.update(providerSettings({ requested: "openai" }));
    await provider.ready();
    expect(primary.created).toHaveLength(1);
    provider.update(providerSettings({ requested: "openai" }), { force: true });
    await provider.ready();
    expect([primary.created.length, primary.closed, ids()]).toEqual([2, [1], ["openai"]]);
    provider.update(providerSettings({ requested: "voyage" }));
    await provider.ready();
    expect(ids()).toEqual(["openai", "voyage"]);
    provider.update(providerSettings({ requested: "none" }));
    await provider.ready();
    expect(told.at(-1)).toEqual({ provider: null, keepVectors: false });
  });

  test("a missing key keeps the vectors, words by choice do not", async () => {
    primary.createFault = new EmbeddingError("no-credentials", "openai: no key");
    await start();
    expect(told).toEqual([{ provider: null, keepVectors: true, reason: "openai: no key" }]);
    host.withdraw("voyage");
    provider.update(providerSettings());
    await provider.ready();
    expect(told.at(-1)).toEqual({ provider: null, keepVectors: true });
    expect(provider.view()).toMatchObject({
      state: "none",
      error: "no embedding provider is set up",
      skipped: [{ provider: "local" }, { provider: "openai", reason: "openai: no key" }],
    });
  });

  test("an adapter whose plugin was loaded anew is opened anew; one that is gone is not used any more", async () => {
    await start();
    const again = createTestAdapter("openai");
    host.offer(again.adapter);
    provider.adaptersChanged();
    await provider.ready();
    expect([again.created.length, primary.closed]).toEqual([1, [1]]);
    host.withdraw("openai");
    provider.adaptersChanged();
    await provider.ready();
    expect(provider.view()).toMatchObject({ state: "unavailable", error: expect.stringMatching(/^openai: no plugin/) });
    host.offer(again.adapter);
    provider.adaptersChanged();
    await provider.ready();
    expect(provider.view()).toMatchObject({ state: "provider", provider: "openai" });
  });

  test("with auto, an adapter further up takes over once it is there, one further down changes nothing", async () => {
    host.withdraw("openai");
    await start({ requested: "auto" });
    expect(ids()).toEqual(["voyage"]);
    const mistral = createTestAdapter("mistral");
    host.offer(mistral.adapter);
    provider.adaptersChanged();
    await provider.ready();
    expect([ids(), mistral.created, other.created.length]).toEqual([["voyage"], [], 1]);
    host.offer(primary.adapter);
    provider.adaptersChanged();
    await provider.ready();
    expect(ids()).toEqual(["voyage", "openai"]);
  });

  test("with auto, a plugin that waits for its first use is asked, and the provider in use stays when nothing comes of it", async () => {
    host.withdraw("openai");
    await start({ requested: "auto" });
    provider.adaptersChanged(true);
    await provider.ready();
    await query("x");
    expect([ids(), other.closed]).toEqual([["voyage"], [2]]);
    host.offer(primary.adapter, { isLazy: true });
    provider.adaptersChanged(true);
    await provider.ready();
    expect(ids()).toEqual(["voyage", "openai"]);
  });
});

test("a probe calls the vendor once, past the cache, and ends a pause when it answers", async () => {
  await start();
  expect(await provider.probe()).toMatchObject({ ok: true, dims: 64 });
  await failedIndexing("openai");
  expect(await provider.probe()).toMatchObject({ ok: true });
  expect([primary.queries, ids()]).toEqual([
    ["svc", "svc"],
    ["openai", null, "openai"],
  ]);
  primary.fault = hang;
  const probing = provider.probe();
  await host.clock.advance(10_000);
  expect(await probing).toMatchObject({ ok: false, error: expect.stringContaining("no answer within 10 s") });
});

test("an adapter whose calls fail with anything at all does no harm", async () => {
  await start();
  primary.fault = async () => {
    throw Object.assign(new Error("socket hang up"), { code: "ECONNRESET" });
  };
  await expect(documents()).rejects.toThrow("socket hang up");
  expect(provider.view().error).toBe("socket hang up");
});

test("images that nobody can embed are named as left out, where the model takes no images", async () => {
  await start({ multimodal: true });
  expect(provider.view().error).toBe("openai: openai-small embeds no images and sounds: they are left out");
  await provider.close();
  const seeing = createTestAdapter("openai", { supportsMultimodal: () => true, provider: { embedBatchInputs: async () => [] } });
  host.offer(seeing.adapter);
  await start({ multimodal: true });
  expect(provider.view()).not.toHaveProperty("error");
  expect(told.at(-1)).toMatchObject({ provider: { multimodal: true } });
});

test("a provider that is opened when nobody waits for it any more is closed", async () => {
  let go: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    go = resolve;
  });
  const { create } = primary.adapter;
  host.offer({
    ...primary.adapter,
    create: async (context) => {
      await gate;
      return create(context);
    },
  });
  const started = start();
  await host.clock.advance(MINUTE);
  await started;
  expect(provider.view()).toMatchObject({ state: "unavailable", error: expect.stringContaining("no answer within 30 s") });
  go();
  await host.clock.advance(0);
  expect(primary.closed).toEqual([1]);
});
