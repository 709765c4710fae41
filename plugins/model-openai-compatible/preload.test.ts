import { createRequire } from "node:module";
import { createTestGateway, eventually, fakeClock } from "svc/sdk/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type FakeOpenAi, startFakeOpenAi } from "../../test/fakes/openai-server.ts";
import { undiciParts } from "./preload.ts";

const { cache, resolve } = createRequire(import.meta.url);
const parts = undiciParts.map((file) => resolve(file));
const loaded = () => parts.filter((file) => Object.hasOwn(cache, file));
const plugins = ["model-openai-compatible"];
let vendor: FakeOpenAi;

beforeEach(async () => {
  // Other files of this process may have needed them.
  for (const file of parts) delete cache[file];
  vendor = await startFakeOpenAi();
});

afterEach(() => vendor.close());

test("the client of model calls is loaded before the first call, and only where a provider needs it", async () => {
  const clock = fakeClock();
  const withoutKey = { openai: {} };
  const gw = await createTestGateway({ plugins, clock, config: { models: { providers: withoutKey } } });
  try {
    for (let i = 0; i < 100; i++) await clock.advance(1_000);
    expect(loaded()).toEqual([]);

    const providers = { lab: { baseUrl: vendor.url, apiKey: vendor.apiKey, models: [{ id: "ok" }] } };
    await gw.reload({ models: { providers: { ...withoutKey, ...providers } } });
    await eventually(async () => {
      await clock.advance(1_000);
      return loaded().length === parts.length;
    });
    expect(vendor.requests).toEqual([]);
  } finally {
    await gw.close();
  }
});

test.each(undiciParts)("%s is a file of the package", (file) => {
  expect(resolve(file)).toContain("undici");
});
