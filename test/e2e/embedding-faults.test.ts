import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { type Stage, startStage } from "./_embedding-stage.ts";
import { type MemorySearchConfig, type Trouble, type Vendor, type VendorId, vendors } from "./_embedding-vendors.ts";

const PAUSE_MS = 300_000;
const LONG_MS = 30_000;

/** Faults of a vendor, each with the event the gateway waits for before it asks again. */
const troubles: Array<[name: string, trouble: (vendor: Vendor) => Trouble, until: "pause" | "config"]> = [
  ["429 without Retry-After", said(429), "pause"],
  ["429 with Retry-After", (vendor) => ({ ...said(429)(vendor), headers: { "retry-after": "1" } }), "pause"],
  ["500", said(500), "pause"],
  ["a reset", () => "reset", "pause"],
  ["silence", () => "hang", "pause"],
  ["a vector too few", () => "wrong-count", "pause"],
  ["vectors of another length", () => "wrong-dims", "pause"],
  ["numbers that are none", () => "nan", "pause"],
  ["JSON that breaks off", () => "truncated", "pause"],
  ["401", said(401), "config"],
  ["403", said(403), "config"],
];

/** Careless vendors repeat what they were sent. */
function said(status: number): (vendor: Vendor) => Trouble & object {
  return ({ shown }) => ({ status, message: `refused, for the record: ${shown.join(" and ")}` });
}

/** A gateway whose memory is embedded by one vendor. */
interface Scene {
  id: string;
  vendor: Vendor;
  stage: Stage;
  /** The config, each time with another credential: that is what a refused one waits for, and it changes no vector. */
  config(): MemorySearchConfig;
}

async function startScene(id: VendorId): Promise<Scene> {
  const vendor = await vendors[id]();
  let round = 0;
  const config = () => ({ provider: id, remote: { ...vendor.remote, headers: { "x-team-token": `team-token-${round++}` } } });
  const stage = await startStage({ memorySearch: config(), adapters: [id], vendors: [vendor] });
  return { id, vendor, stage, config };
}

const scenes: Scene[] = [];

/** The same with every adapter at once, because most of it is waiting. */
async function withEach(run: (scene: Scene) => Promise<void>): Promise<void> {
  const failed = (scene: Scene) => (error: unknown) => {
    throw new Error(`${scene.id}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  };
  const ends = await Promise.allSettled(scenes.map((scene) => run(scene).catch(failed(scene))));
  const reasons = ends.flatMap((end) => (end.status === "rejected" ? [end.reason as Error] : []));
  if (reasons.length > 0) throw new AggregateError(reasons, reasons.map(({ message }) => message).join("\n"));
}

function expectNoSecrets({ vendor, stage }: Scene, ...told: unknown[]): void {
  const text = JSON.stringify([stage.gateway.logs, told]);
  for (const secret of vendor.secrets) expect(text.includes(secret), "a secret shows").toBe(false);
}

async function expectRecovery({ vendor, stage, config }: Scene, until: "pause" | "config"): Promise<void> {
  vendor.fail();
  if (until === "config") {
    const asked = vendor.seen().length;
    await stage.clock.advance(2 * PAUSE_MS);
    const { vectors } = stage.stored();
    await stage.sync({ force: true }).catch(() => undefined);
    expect(stage.stored().vectors, "vectors after a forced sync").toBe(vectors);
    await expect(stage.search("boiler"), "a search before the config changes").resolves.toMatchObject({ degraded: true });
    expect(vendor.seen(), "requests before the config changes").toHaveLength(asked);
    await stage.configure(config());
  } else await stage.clock.advance(PAUSE_MS + 10);
  await eventually(() => {
    const { chunks, vectors } = stage.stored();
    expect(vectors, "vectors").toBe(chunks);
    return vectors > 0;
  }, LONG_MS);
  await eventually(async () => {
    const found = await stage.search("how much pressure does the boiler need");
    expect(found).toMatchObject({ searchMode: "hybrid" });
    expect(found.degraded).toBeUndefined();
    return true;
  }, LONG_MS);
  expect((await stage.status()).providerError).toBeUndefined();
  expect(stage.stored()).toMatchObject({ odd: 0, dims: [expect.any(Number)] });
}

beforeAll(async () => {
  for (const id of Object.keys(vendors) as VendorId[]) scenes.push(await startScene(id));
  await withEach(async (scene) => {
    await scene.stage.sync();
    await expectRecovery(scene, "pause");
  });
});

afterAll(async () => {
  for (const { stage, vendor } of scenes) {
    await stage.close();
    await vendor.close();
  }
});

describe("while searching", () => {
  test.each(troubles)("%s: words are found, with a reason", async (name, trouble, until) => {
    await withEach(async (scene) => {
      const { stage, vendor } = scene;
      const before = stage.stored();
      const asked = vendor.seen().length;
      vendor.fail(trouble(vendor));
      // Vectors of earlier questions are remembered.
      const answer = stage.search(`boiler ${name}`);
      await eventually(() => vendor.seen().length > asked);
      await stage.clock.advance(1_500);
      const found = await answer;
      expect(found).toMatchObject({ searchMode: "fts-only", warning: expect.stringMatching(/\S/) });
      expect(found.degraded).toBe(true);
      expect(found.results.map(({ path, vectorScore }) => [path, vectorScore])).toEqual([["MEMORY.md", undefined]]);
      // The words do not wait for the end of the request.
      await eventually(async () => (await stage.status()).providerError !== undefined);
      const status = await stage.status();
      expect(status.providerError).toMatch(/\S/);
      expectNoSecrets(scene, found, status);
      expect(stage.stored()).toEqual(before);
      await expectRecovery(scene, until);
    });
  });

  test("three failures in a row pause the provider for five minutes; then it is asked by itself", async () => {
    await withEach(async ({ stage, vendor, ...scene }) => {
      vendor.fail(said(500)(vendor));
      for (const word of ["one", "two", "three"]) await stage.search(`boiler of ${word}`);
      vendor.fail();
      const asked = vendor.seen().length;
      await expect(stage.search("boiler of four")).resolves.toMatchObject({ degraded: true, searchMode: "fts-only" });
      await stage.clock.advance(PAUSE_MS - 10_000);
      await expect(stage.search("boiler of five")).resolves.toMatchObject({ degraded: true, searchMode: "fts-only" });
      expect(vendor.seen()).toHaveLength(asked);
      await expectRecovery({ stage, vendor, ...scene }, "pause");
    });
  });
});

describe("while indexing", () => {
  test.each(troubles)("%s: a new note is found by its words, and gets its vector by itself", async (name, trouble, until) => {
    const word = `word${name.replace(/\W/g, "")}`;
    await withEach(async (scene) => {
      const { stage, vendor } = scene;
      vendor.fail(trouble(vendor));
      await mkdir(join(stage.gateway.workspace, "memory"), { recursive: true });
      await writeFile(join(stage.gateway.workspace, "memory", `${word}.md`), `# Note\n\nA note about ${word}.\n`);
      let isOver = false;
      const synced = stage.sync().finally(() => {
        isOver = true;
      });
      // A call that is never answered ends by its limit.
      await eventually(async () => {
        if (name === "silence") await stage.clock.advance(121_000);
        return isOver;
      }, LONG_MS);
      await synced.catch(() => undefined);
      const { chunks, vectors, odd } = stage.stored();
      expect({ vectors, odd }).toEqual({ vectors: chunks - 1, odd: 0 });
      const found = await stage.search(word);
      expect(found).toMatchObject({ degraded: true, warning: expect.stringMatching(/\S/) });
      expect(found.results.map(({ path }) => path)).toContain(`memory/${word}.md`);
      const status = await stage.status();
      expect(status.providerError).toEqual(expect.stringMatching(/\S/));
      expectNoSecrets(scene, found, status);
      await expectRecovery(scene, until);
    });
  });
});
