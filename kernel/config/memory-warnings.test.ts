import { expect, test } from "vitest";
import type { SvcConfigInput } from "../../sdk/config/root.ts";
import { memoryWarnings } from "./memory-warnings.ts";
import { rootSchema } from "./root-schema.ts";

type Search = NonNullable<NonNullable<NonNullable<SvcConfigInput["agents"]>["defaults"]>["memorySearch"]>;

const warningsOf = (defaults: Search, own?: Search) =>
  memoryWarnings(rootSchema.parse({ agents: { defaults: { memorySearch: defaults }, list: own ? [{ id: "a", memorySearch: own }] : [] } }));
const pathsOf = (defaults: Search, own?: Search) => warningsOf(defaults, own).map(({ path }) => path);
const switchedOn = { experimental: { sessionMemory: true } };

test("sessions among the sources without the switch for it are not left out in silence", () => {
  expect(warningsOf({ sources: ["sessions"] })).toEqual([
    {
      path: "agents.defaults.memorySearch.sources",
      message: '"sessions" has no effect while experimental.sessionMemory is off, so only "memory" is indexed; set it to true',
    },
  ]);
  expect(pathsOf({ sources: ["memory", "sessions"], ...switchedOn })).toEqual([]);
  expect(pathsOf({ sources: ["memory"] })).toEqual([]);
});

test("an agent's own sources are judged with the switch that holds for it, and an agent that changes neither repeats nothing", () => {
  const at = "agents.list.0.memorySearch.sources";
  expect(pathsOf({}, { sources: ["sessions"] })).toEqual([at]);
  expect(pathsOf(switchedOn, { sources: ["sessions"] })).toEqual([]);
  expect(pathsOf({ sources: ["sessions"], ...switchedOn }, { experimental: { sessionMemory: false } })).toEqual([at]);
  expect(pathsOf({ sources: ["sessions"] }, { limits: { maxResults: 3 } })).toEqual(["agents.defaults.memorySearch.sources"]);
});

test("an embedding model without its vendor would be asked of whichever vendor is found first", () => {
  expect(warningsOf({ model: "text-embedding-3-large" })).toEqual([
    {
      path: "agents.defaults.memorySearch.model",
      message: '"text-embedding-3-large" would be requested from whichever vendor is found first; name its vendor in memorySearch.provider',
    },
  ]);
  expect(pathsOf({ provider: "openai", model: "m" })).toEqual([]);
  expect(pathsOf({ provider: "auto", model: "m" })).toEqual(["agents.defaults.memorySearch.model"]);
  // A server of its own is asked before any vendor.
  expect(pathsOf({ model: "m", remote: { baseUrl: "http://127.0.0.1:1/v1" } })).toEqual([]);
  expect(pathsOf({}, { model: "m" })).toEqual(["agents.list.0.memorySearch.model"]);
});

test("an agent with another vendor does not get the model of the defaults in silence", () => {
  expect(warningsOf({ provider: "openai", model: "text-embedding-3-large" }, { provider: "gemini" })).toEqual([
    {
      path: "agents.list.0.memorySearch.provider",
      message:
        '"gemini" is asked for the model of the defaults, "text-embedding-3-large"; name a model of this vendor in memorySearch.model',
    },
  ]);
  expect(pathsOf({ provider: "openai", model: "m" }, { provider: "gemini", model: "n" })).toEqual([]);
  expect(pathsOf({ provider: "openai", model: "m" }, { provider: "none" })).toEqual([]);
  expect(pathsOf({ provider: "openai", model: "m" }, { provider: "openai" })).toEqual([]);
});
