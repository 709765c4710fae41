import type { AgentInfo, ModelProvider, SvcConfigInput } from "svc/sdk";
import { parseSharedConfig } from "svc/sdk/internal";
import { describe, expect, test } from "vitest";
import type { Catalog } from "./catalog.ts";
import { createModelChoice, splitRef } from "./choice.ts";

interface Offer {
  models?: string[];
  defaultModel?: string;
  embedded?: boolean;
  ready?: boolean;
}

function catalogOf(offers: Record<string, Offer>): Catalog {
  const providers = Object.entries(offers).map(
    ([id, { models = [], defaultModel, embedded, ready = true }]): ModelProvider => ({
      id,
      ...(defaultModel === undefined ? {} : { defaultModel }),
      ...(embedded === undefined ? {} : { embedded }),
      models: () => models.map((m) => ({ id: m })),
      available: () => (ready ? { ok: true } : { ok: false, reason: "no key" }),
      stream: async function* () {
        yield* [];
      },
    }),
  );
  const read = new Map<string, ReturnType<Catalog["known"]>>();
  return {
    providers: () => providers,
    ready: async () => undefined,
    provider: (id) => providers.find((p) => p.id === id),
    models: async (p) => {
      const listed = await p.models();
      read.set(p.id, listed);
      return listed;
    },
    known: (p) => read.get(p.id) ?? [],
  };
}

const offers: Record<string, Offer> = {
  recall: { models: ["recall"], defaultModel: "recall", embedded: true },
  big: { models: ["large", "small", "vendor/deep"], defaultModel: "large" },
  quiet: {},
  unready: { models: ["small"], defaultModel: "small", ready: false },
};

function setUp(given: { offers?: Record<string, Offer>; models?: string[]; config?: SvcConfigInput } = {}) {
  const agent: AgentInfo = { id: "main", isDefault: true, workspace: "/w", models: given.models ?? [], identity: {} };
  const choice = createModelChoice(parseSharedConfig(given.config ?? {}), catalogOf(given.offers ?? offers));
  return { agent, choice };
}

async function chain(given: Parameters<typeof setUp>[0], override?: string): Promise<string[]> {
  const { agent, choice } = setUp(given);
  return (await choice.candidates(agent, override)).map((c) => `${c.provider.id}/${c.model}`);
}

describe("what a caller names", () => {
  test.each([
    ["provider and model", "big/small", "big/small"],
    ["a bare id", "small", "big/small"],
    ["a bare id with a slash", "vendor/deep", "big/vendor/deep"],
    ["a provider that lists nothing is believed", "quiet/whatever", "quiet/whatever"],
    ["an alias in any case", "Fast", "big/small"],
  ])("%s", async (_name, named, expected) => {
    const { agent, choice } = setUp({ config: { agents: { defaults: { models: { "big/small": { alias: "fast" }, "big/large": {} } } } } });
    const allowAll = setUp();
    const ref = named === "Fast" ? await choice.check(agent, named) : await allowAll.choice.check(allowAll.agent, named);
    expect(`${ref.provider}/${ref.model}`).toBe(expected);
  });

  test("a bare id is looked up at the agent's own provider first", async () => {
    const { agent, choice } = setUp({ models: ["quiet/base"] });
    expect(await choice.check(agent, "other")).toEqual({ provider: "quiet", model: "other" });
  });

  test("a model that its provider does not list is not looked for elsewhere by belief", async () => {
    const { agent, choice } = setUp({ models: ["quiet/base"] });
    await expect(choice.check(agent, "big/lrge")).rejects.toMatchObject({ code: "invalid-model" });
  });

  test("an unknown model is refused with the closest id", async () => {
    const { agent, choice } = setUp({ offers: { big: offers.big as Offer } });
    await expect(choice.check(agent, "big/lrge")).rejects.toMatchObject({
      code: "invalid-model",
      message: expect.stringContaining('the closest is "big/large"'),
      details: { code: "INVALID_MODEL", model: "big/lrge", closest: "big/large" },
    });
    await expect(choice.check(agent, " ")).rejects.toMatchObject({ code: "invalid-model" });
  });

  test("a list of models in the config is an allow-list, besides the agent's own", async () => {
    const { agent, choice } = setUp({ models: ["big/large"], config: { agents: { defaults: { models: { "recall/recall": {} } } } } });
    expect(await choice.check(agent, "big/large")).toEqual({ provider: "big", model: "large" });
    await expect(choice.check(agent, "big/small")).rejects.toMatchObject({
      code: "model-not-allowed",
      message: "Model 'big/small' is not allowed for agent 'main'.",
    });
  });
});

describe("what is tried, in order", () => {
  test.each<[string, Parameters<typeof setUp>[0], string | undefined, string[]]>([
    ["nothing configured: the first vendor that is ready", {}, undefined, ["big/large"]],
    [
      "no vendor is ready: the embedded one",
      { offers: { unready: offers.unready as Offer, recall: offers.recall as Offer } },
      undefined,
      ["recall/recall"],
    ],
    ["no provider at all: nothing", { offers: {} }, undefined, []],
    ["the agent's model and its fallbacks", { models: ["big/small", "unready/small"] }, undefined, ["big/small", "unready/small"]],
    ["a fallback nobody knows is left out", { models: ["big/small", "big/none"] }, undefined, ["big/small"]],
    ["a chosen model stands alone", { models: ["big/small", "big/large"] }, "big/large", ["big/large"]],
  ])("%s", async (_name, given, override, expected) => {
    expect(await chain(given, override)).toEqual(expected);
  });

  test("a configured model that does not exist is an error, never the embedded model", async () => {
    await expect(chain({ models: ["gone/model"] })).rejects.toMatchObject({ code: "invalid-model" });
  });
});

test("a reference is split at its first slash", () => {
  expect(splitRef("a/b/c")).toEqual({ provider: "a", model: "b/c" });
  expect(splitRef("bare")).toBeUndefined();
  expect(splitRef("/x")).toBeUndefined();
  expect(splitRef("x/")).toBeUndefined();
});

describe("a vendor whose model nobody named", () => {
  const listing = {
    recall: { models: ["recall"], defaultModel: "recall", embedded: true },
    server: { models: ["zeta", "nomic-embed-text", "alpha"] },
  };

  test("is asked for its list, and the first by name that is no embedding model answers", async () => {
    expect(await chain({ offers: listing })).toEqual(["server/alpha"]);
  });

  test("comes after one whose model is named, and before the embedded one", async () => {
    expect(await chain({ offers: { ...listing, big: { models: ["large"], defaultModel: "large" } } })).toEqual(["big/large"]);
    expect(await chain({ offers: { ...listing, server: {} } })).toEqual(["recall/recall"]);
    expect(await chain({ offers: { ...listing, server: { models: ["alpha"], ready: false } } })).toEqual(["recall/recall"]);
  });
});
