import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { type Stage, type StageOptions, startStage } from "./_embedding-stage.ts";
import { type Vendor, type VendorId, vendors } from "./_embedding-vendors.ts";

const LONG_MS = 30_000;
const HOUR_MS = 3_600_000;
const down = { status: 500, message: "out of order" };

let running: Array<{ close(): Promise<void> }> = [];

afterEach(async () => {
  for (const one of running.reverse()) await one.close();
  running = [];
});

async function vendorOf(id: VendorId): Promise<Vendor> {
  const vendor = await vendors[id]();
  running.push(vendor);
  return vendor;
}

async function stageOf(options: StageOptions): Promise<Stage> {
  const stage = await startStage(options);
  running.push(stage);
  return stage;
}

/** The vendors' entries of `models.providers`. */
function entriesOf(all: readonly Vendor[]): { providers: Record<string, { baseUrl: string; apiKey?: string }> } {
  return { providers: Object.fromEntries(all.map(({ entry: { id, ...entry } }) => [id, entry])) };
}

async function expectVectors(stage: Stage, provider: string): Promise<void> {
  await eventually(async () => {
    const { chunks, vectors, odd, dims } = stage.stored();
    expect({ vectors, odd, lengths: dims.length }).toEqual({ vectors: chunks, odd: 0, lengths: 1 });
    expect(await stage.search("how much pressure does the boiler need")).toMatchObject({ provider, searchMode: "hybrid" });
    expect(await stage.status()).toMatchObject({ provider, vector: { dims: dims[0] } });
    return true;
  }, LONG_MS);
}

/** No vendor has seen what is another's: neither a key nor the name of a model. */
function expectApart(all: readonly Vendor[]): void {
  for (const vendor of all) {
    const seen = vendor.seen().join("\n");
    for (const other of all.filter((one) => one !== vendor)) {
      for (const secret of other.secrets)
        expect(seen.includes(secret), `${vendor.entry.id} was shown a secret of ${other.entry.id}`).toBe(false);
    }
  }
}

describe("a named provider that cannot be used, without a fallback", () => {
  test.each<VendorId>(["openai", "gemini", "voyage", "mistral", "bedrock"])("makes memory unavailable: %s", async (id) => {
    const other = await vendorOf("ollama");
    const options = { adapters: [id, "ollama"], vendors: [], models: entriesOf([other]) };
    const stage = await stageOf({ ...options, memorySearch: { provider: id, fallback: "none" } });
    const found = await eventually(async () => {
      const answer = await stage.search("boiler");
      // The first search does not wait for the choice to be made.
      expect(answer).toMatchObject({ results: [], unavailable: true, provider: "none", error: expect.stringContaining(id) });
      return answer;
    }, LONG_MS);
    expect(found.action).toEqual(expect.stringMatching(/\S/));
    expect(await stage.status()).toMatchObject({ requestedProvider: id, provider: "none", providerError: found.error });
    // Nobody else's account is used in its place.
    expect(other.seen()).toEqual([]);
  });

  test("and with a fallback that cannot be used either tells of both", async () => {
    const memorySearch = { provider: "openai", fallback: "voyage" };
    const stage = await stageOf({ memorySearch, adapters: ["openai", "voyage"], vendors: [] });
    await eventually(async () => {
      const { error } = await stage.search("boiler");
      expect(error).toEqual(expect.stringMatching(/openai.*voyage/s));
      return true;
    }, LONG_MS);
  });
});

describe("a fallback", () => {
  test.each<[VendorId, VendorId]>([
    ["openai", "mistral"],
    ["gemini", "voyage"],
    ["voyage", "bedrock"],
    ["mistral", "gemini"],
    ["bedrock", "openai"],
    ["ollama", "openai"],
  ])("of %s by %s has an index of its own, and gives way after an hour", async (id, other) => {
    const [primary, standIn] = [await vendorOf(id), await vendorOf(other)];
    const both = [primary, standIn];
    const stage = await stageOf({
      memorySearch: { provider: id, remote: primary.remote, fallback: other },
      models: entriesOf([standIn]),
      adapters: [id, other],
      vendors: both,
    });
    await stage.sync();
    await expectVectors(stage, id);
    const [dims] = stage.stored().dims;

    primary.fail(down);
    await writeFile(join(stage.gateway.workspace, "memory", "later.md"), "# Later\n\nThe ferry leaves at noon.\n");
    await stage.sync().catch(() => undefined);
    await expectVectors(stage, other);
    expect(await stage.status()).toMatchObject({ requestedProvider: id, fallback: { from: id, reason: expect.stringMatching(/\S/) } });
    expect((await stage.search("ferry")).results.map(({ path }) => path)).toContain("memory/later.md");

    primary.fail();
    await stage.clock.advance(HOUR_MS + 1_000);
    await expectVectors(stage, id);
    expect(stage.stored().dims).toEqual([dims]);
    expect((await stage.status()).fallback).toBeUndefined();
    expectApart(both);
  });

  test("takes over after three queries that failed; vectors of two models are never compared", async () => {
    const [primary, standIn] = [await vendorOf("openai"), await vendorOf("voyage")];
    const stage = await stageOf({
      memorySearch: { provider: "openai", remote: primary.remote, model: "text-embedding-ada-002", fallback: "voyage" },
      models: entriesOf([standIn]),
      adapters: ["openai", "voyage"],
      vendors: [primary, standIn],
    });
    await stage.sync();
    await expectVectors(stage, "openai");

    primary.fail(down);
    for (const word of ["one", "two", "three"]) {
      const found = await stage.search(`boiler of ${word}`);
      expect(found.results.every(({ vectorScore }) => vectorScore === undefined)).toBe(true);
      expect(found.results[0]?.path).toBe("MEMORY.md");
    }
    await expectVectors(stage, "voyage");
    // Its own model, not the primary's.
    expect(standIn.seen().join()).not.toContain("text-embedding-ada-002");
    expectApart([primary, standIn]);
  });
});

describe("another model or length", () => {
  test.each<[VendorId, { model?: string; outputDimensionality?: number }]>([
    ["openai", { model: "text-embedding-ada-002" }],
    ["openai", { outputDimensionality: 512 }],
    ["voyage", { outputDimensionality: 256 }],
    ["bedrock", { outputDimensionality: 256 }],
    ["bedrock", { model: "cohere.embed-v4:0", outputDimensionality: 512 }],
    ["gemini", { model: "gemini-embedding-2", outputDimensionality: 768 }],
  ])("of %s (%j) is indexed beside the old one, which answers until then", async (id, change) => {
    const vendor = await vendorOf(id);
    const memorySearch = { provider: id, remote: vendor.remote };
    const stage = await stageOf({ memorySearch, adapters: [id], vendors: [vendor] });
    await stage.sync();
    await expectVectors(stage, id);
    const before = stage.stored();

    vendor.fail("hang");
    const asked = vendor.seen().length;
    await stage.configure({ ...memorySearch, ...change });
    await eventually(() => vendor.seen().length > asked, LONG_MS);
    const found = await stage.search("boiler");
    expect(found.results.map(({ path }) => path)).toContain("MEMORY.md");
    expect(found.results.every(({ vectorScore }) => vectorScore === undefined)).toBe(true);
    expect(stage.stored()).toEqual(before);

    vendor.fail();
    // Ends the calls that hang.
    await stage.clock.advance(121_000);
    await eventually(async () => {
      const { dims } = stage.stored();
      expect(dims).toEqual([change.outputDimensionality ?? before.dims[0]]);
      expect(await stage.status()).toMatchObject({ ...(change.model === undefined ? {} : { model: change.model }), syncing: false });
      return true;
    }, LONG_MS);
    await expectVectors(stage, id);
    const { model } = change;
    const names = model === undefined ? [""] : [model, encodeURIComponent(model)];
    const anew = vendor.seen().slice(asked);
    expect(anew.some((text) => text.includes("airport train") && names.some((name) => text.includes(name)))).toBe(true);
  });
});

test("auto-detection takes the first vendor whose key is there, and shows no other one anything", async () => {
  const ids: VendorId[] = ["bedrock", "mistral", "voyage", "gemini", "openai"];
  const all = await Promise.all(ids.map(vendorOf));
  const stage = await stageOf({ memorySearch: {}, models: entriesOf(all), adapters: ids, vendors: all });
  for (const [i, id] of [...ids].reverse().entries()) {
    await stage.sync();
    await expectVectors(stage, id);
    expect(all.slice(0, all.length - 1 - i).flatMap((vendor) => vendor.seen())).toEqual([]);
    // The next one is asked only once this one has no key any more.
    await stage.configure({}, entriesOf(all.slice(0, all.length - 1 - i)));
  }
  expectApart(all);
});
