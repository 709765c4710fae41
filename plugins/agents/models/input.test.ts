import type { ModelInfo, ModelInput, ModelProvider, Store } from "svc/sdk";
import { parseSharedConfig } from "svc/sdk/internal";
import { expect, test } from "vitest";
import { createDirectory } from "../directory.ts";
import type { Catalog } from "./catalog.ts";
import { createModelChoice } from "./choice.ts";
import { modelInput } from "./input.ts";

const models: ModelInfo[] = [{ id: "reader", input: ["text", "pdf"] }, { id: "seer", input: ["text", "image", "pdf"] }, { id: "silent" }];
const provider: ModelProvider = {
  id: "lab",
  models: () => models,
  available: () => ({ ok: true }),
  stream: () => {
    throw new Error("nobody calls it");
  },
};
const quoter: ModelProvider = { ...provider, id: "quoter", embedded: true, defaultModel: "quotes" };
const catalog: Catalog = {
  providers: () => [provider, quoter],
  provider: (id) => [provider, quoter].find((one) => one.id === id),
  ready: async () => undefined,
  models: async () => models,
  known: () => models,
};
const agent = (id: string, ...fallbacks: string[]) => ({ id, model: { primary: "lab/seer", fallbacks } });
const config = parseSharedConfig({
  agents: { list: [agent("main", "lab/reader", "quoter/quotes"), agent("silenced", "lab/silent"), agent("alone")] },
});
const sessions = { get: async (key: string) => (key === "agent:main:chosen" ? { model: "lab/reader" } : undefined) };
const kit = {
  catalog,
  directory: createDirectory(config, "/state"),
  models: createModelChoice(config, catalog),
  store: () => ({ sessions }) as unknown as Store,
};

test.each<[string, Parameters<typeof modelInput>[1], ModelInput[]]>([
  ["of the agent", { agentId: "alone" }, ["text", "image", "pdf"]],
  ["of the agent and its fallbacks", {}, ["text", "pdf"]],
  ["with a fallback that says nothing", { agentId: "silenced" }, []],
  ["of the session", { sessionKey: "chosen" }, ["text", "pdf"]],
  ["of the request, which wins over that of the session", { sessionKey: "chosen", model: "lab/seer" }, ["text", "image", "pdf"]],
  ["that says nothing", { model: "lab/silent" }, []],
])("the model %s tells what it reads", async (_name, choice, input) => {
  expect(await modelInput(kit, choice)).toEqual(input);
});

test("a model that is not there is an error", async () => {
  await expect(modelInput(kit, { model: "lab/gone" })).rejects.toMatchObject({ code: "invalid-model" });
});
