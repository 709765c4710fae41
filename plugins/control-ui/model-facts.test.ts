import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const page = (name: string) => import(new URL(`./public/core/${name}`, import.meta.url).href);
const facts = await page("model-facts.js");
const draft = await page("provider-draft.js");
const { modelTrouble, needsModel, nextTry, partsOf, tryWords } = await page("parts.js");

const NOW = 1_700_000_000_000;
const ready = { provider: "lab", model: "ok", state: "ready" };
const resting = { ...ready, model: "big", state: "cooldown", reason: "it was overloaded.", until: NOW + 90_000 };
const recall = { provider: "recall", model: "recall", state: "embedded" };
const provider = (change: object = {}) => ({ id: "lab", state: "ready", isConfigured: true, keySource: "LAB_KEY", ...change });
const status = (models: object[], change: object = {}) => ({
  ...{ agents: [{ agentId: "main", isDefault: true, setBy: "agents.defaults.model", models }], providers: [provider()], skipped: [] },
  ...change,
});

test("a model in cooldown is told with its reason, the time that is left, and what answers meanwhile", () => {
  const known = status([resting, ready]);

  expect(modelTrouble(known)).toMatchObject({ name: "lab/big", word: "is in cooldown", until: NOW + 90_000, instead: "lab/ok" });
  expect(facts.reasonWords(resting, NOW)).toBe("it was overloaded. Tried again in 1 min.");
  expect([tryWords(resting.until, NOW), tryWords(resting.until, resting.until)]).toEqual(["It is tried again in 1 min.", ""]);
  expect([nextTry(known, NOW), nextTry(known, resting.until)]).toEqual([resting.until, undefined]);
  const [part] = partsOf({
    health: undefined,
    plugins: undefined,
    models: [],
    defaultModel: undefined,
    modelStatus: known,
    memory: undefined,
  });
  expect(part).toMatchObject({ id: "model", level: "warn", text: "lab/big", hint: "lab/ok answers meanwhile.", until: resting.until });
  expect(part.reason).toBe("it is in cooldown: it was overloaded.");
});

test("the overview follows the states: a model that was just added is there, whatever the sessions knew before", () => {
  const before = {
    health: undefined,
    plugins: undefined,
    models: [{ id: "recall", provider: "recall" }],
    defaultModel: undefined,
    memory: undefined,
  };
  expect(partsOf({ ...before, modelStatus: status([ready]) })).toEqual([{ id: "model", name: "Model", level: "ok", text: "lab/ok" }]);
  expect(partsOf({ ...before, modelStatus: status([recall]) })).toMatchObject([{ level: "info", link: { href: "#/models" } }]);
  expect(partsOf({ ...before, models: [], modelStatus: status([{ provider: "", model: "", state: "none" }]) })).toMatchObject([
    { level: "bad" },
  ]);
});

test("the model of one conversation is judged by itself: its agent's fallbacks do not answer there", () => {
  const broken = status([ready], { providers: [provider(), { ...provider({ id: "far" }), state: "unreachable", reason: "ECONNREFUSED" }] });

  expect(modelTrouble(broken, { agentId: "main" })).toBeUndefined();
  expect(modelTrouble(broken, { agentId: "main", chosen: "lab/other" })).toBeUndefined();
  expect(modelTrouble(broken, { agentId: "main", chosen: "far/m" })).toMatchObject({ name: "far/m", word: "does not answer" });
  expect(modelTrouble(status([resting, ready]), { chosen: "lab/big" })).toMatchObject({ name: "lab/big", instead: undefined });
  expect(modelTrouble(broken, { agentId: "nobody" })).toBeUndefined();
});

test("only a gateway without a language model needs one: a model that rests, or lost its key, is there", () => {
  const states = ["embedded", "none", "ready", "cooldown", "key-rejected", "unreachable", "unavailable", "unknown"];
  expect(states.filter((state) => needsModel(status([{ ...ready, state }])))).toEqual(["embedded", "none"]);
  expect(needsModel(undefined)).toBe(false);
});

test("a sentence says who answers", () => {
  expect(facts.sentenceOf(status([ready]))).toBe("1 provider. main is answered by lab/ok.");
  expect(facts.sentenceOf(status([resting, ready]))).toBe("1 provider. main is answered by lab/ok (lab/big: in cooldown).");
  expect(facts.sentenceOf(status([resting]))).toBe("1 provider. No model answers main (lab/big: in cooldown).");
  expect(facts.sentenceOf(status([recall], { providers: [] }))).toBe("0 providers. No language model answers: main quotes its notes.");
  expect(facts.sentenceOf(status([{ provider: "", model: "", state: "none" }]))).toBe("1 provider. No model answers.");
  expect(facts.stateOf({ state: "constructor" })).toEqual({ word: "constructor", level: "" });
});

test("what is set up and of no use is named once, and its id is taken", () => {
  const known = status([recall], {
    providers: [provider(), provider({ id: "locked", state: "key-rejected", reason: "401" }), provider({ id: "env", isConfigured: false })],
    skipped: [
      { provider: "locked", reason: "again" },
      { provider: "acme", reason: "no address" },
    ],
  });
  expect(facts.unusableOf(known)).toEqual([
    { id: "locked", why: "401" },
    { id: "acme", why: "no address" },
  ]);
  expect(facts.takenIn(known)).toEqual(["lab", "locked", "acme"]);
  expect(facts.agentsOf(status([resting, ready]), "lab")).toEqual(["main"]);
});

test("abilities are told in words, and nothing is said of what nobody knows", () => {
  expect([999, 128_000, 1_048_576, undefined].map(facts.windowWords)).toEqual(["999", "128k", "1M", undefined]);
  const model = { id: "m", name: "m", provider: "lab" };
  expect(
    facts.abilitiesOf({ ...model, contextWindow: 200_000, reasoning: true, input: ["text", "image", "audio", "pdf", "toString"] }),
  ).toEqual([...["200k context", "vision", "audio", "PDF", "reasoning"]]);
  expect(facts.abilitiesOf(model)).toEqual([]);
  const marks = facts.marksOf({ ...model, tags: ["default", "embedded"], alias: "big", unavailableReason: "cooldown" });
  expect(marks.map(({ word }: { word: string }) => word)).toEqual(["default", "alias big", "in cooldown"]);
});

test("models are found by their names, those that answer first", () => {
  const models = ["b", "c", "a"].map((id) => ({ id, name: `Model ${id}`, provider: "lab", ...(id === "c" ? { tags: ["default"] } : {}) }));
  const ids = (text: string) => facts.foundModels(models, text).map(({ id }: { id: string }) => id);
  expect(ids("")).toEqual(["c", "a", "b"]);
  expect(ids("model B")).toEqual(["b"]);
});

test("usage is summed over the models of a provider, and a provider with a longer name is another one", () => {
  const row = (name: string, costUsd?: number) => ({
    ...{ name, runs: 2, replays: 0, errors: 0, input: 10, output: 5, cacheRead: 1, cacheWrite: 0, unpriced: 0 },
    ...(costUsd === undefined ? {} : { costUsd }),
  });
  const rows = [row("lab/a", 0.5), row("lab/b", 1), row("laboratory/a", 7), row("free/a")];
  expect(facts.usageWords(rows, "lab/")).toBe("4 runs, 32 tokens, $1.50");
  expect(facts.usageWords(rows, "free/a")).toBe("2 runs, 16 tokens, no price");
  expect([facts.usageWords(rows, "lab/c"), facts.usageWords(undefined, "lab/")]).toEqual([undefined, undefined]);
});

test("a test ends in a sentence, and a fault names the next step", () => {
  const usage = { input: 9, output: 1, cacheRead: 1 };
  expect(facts.testWords({ ok: true, latencyMs: 420, text: "OK", usage })).toBe("Answered in 420 ms, 10 tokens in, 1 out: “OK”");
  const fault = { ok: false, latencyMs: 1_000, fault: "model_not_found", error: "no such model" };
  expect(facts.testWords(fault)).toBe("No answer (model not found, 1.0 s): no such model");
  expect(facts.adviceFor("auth")).toMatch(/key/);
  expect(facts.adviceFor("content_filter")).toBeUndefined();
});

const fresh = draft.freshDraft(true);
const problems = (change: object, known: object = {}) =>
  Object.keys(draft.problemsOf({ ...fresh, ...change }, { key: "", taken: ["lab", "ollama"], ...known })).sort();

test("a form that lacks something says where", () => {
  const lab = { kind: "address", id: "mine", address: "http://10.0.0.5:8000/v1" };
  const file = { kind: "local", server: "local", file: "~/models/q.gguf" };
  const table: Array<[wrong: string[], change: object, known?: object]> = [
    [["key"], {}],
    [[], {}, { key: "sk-1" }],
    [["key"], {}, { key: "sk 1" }],
    [[], {}, { written: "anthropic", taken: ["anthropic"] }],
    [["vendor"], {}, { key: "sk-1", taken: ["anthropic"] }],
    [[], lab],
    [["id"], { ...lab, id: "Lab 2" }],
    [["id"], { ...lab, id: "lab" }],
    [["address"], { ...lab, address: "" }],
    [["address"], { ...lab, address: "ftp://10.0.0.5/" }],
    [["address"], { ...lab, address: "http://me:secret@10.0.0.5/" }],
    [["address"], { ...lab, address: "http://me@10.0.0.5/" }],
    [["server"], { kind: "local", server: "ollama" }],
    [[], { kind: "local", server: "vllm" }],
    [["address"], { kind: "local", server: "vllm", address: "10.0.0.5" }],
    [[], file, { taken: ["local"] }],
    [["file"], { ...file, file: " " }],
  ];
  for (const [wrong, change, known] of table) expect(problems(change, known), JSON.stringify(change)).toEqual(wrong);
});

test("what is typed becomes the entry of the config that its kind needs", () => {
  const entry = (change: object, key = "") => draft.additionOf({ ...fresh, ...change }, key).models.providers;
  expect(entry({ model: "claude-x" }, "sk-1")).toEqual({ anthropic: { apiKey: "sk-1" } });
  expect(entry({})).toEqual({ anthropic: {} });
  const lab = { kind: "address", id: " lab ", address: " http://h:1/v1 " };
  expect(entry(lab)).toEqual({ lab: { baseUrl: "http://h:1/v1" } });
  expect(entry({ ...lab, model: "m" }, "k")).toEqual({ lab: { baseUrl: "http://h:1/v1", apiKey: "k", models: [{ id: "m" }] } });
  expect(entry({ kind: "local", server: "lmstudio" }, "k")).toEqual({ lmstudio: {} });
  const file = { kind: "local", server: "local", file: "hf:owner/repo/Qwen 3.GGUF" };
  expect(entry(file)).toEqual({ local: { models: [{ id: "qwen-3", modelPath: "hf:owner/repo/Qwen 3.GGUF" }] } });
});

test("the first model asked is the one that was typed, else the provider's, else one that can talk", () => {
  const ids = ["text-embedding-3", "zeta", "alpha"];
  expect(facts.modelToAsk(" typed ", { defaultModel: "own", ids })).toBe("typed");
  expect(facts.modelToAsk("", { defaultModel: "own", ids })).toBe("own");
  expect(facts.modelToAsk("", { ids })).toBe("alpha");
  expect(facts.modelToAsk("", { ids: ["bge-m3"] })).toBeUndefined();
});

test("a provider that is removed leaves no list of models that names it", () => {
  const list = [
    { id: "main" },
    { id: "own", model: { primary: "lab/a", fallbacks: ["far/b", "lab/c", "far/d"] } },
    { id: "lost", model: "lab/a" },
  ];
  const written = { agents: { defaults: { model: { primary: "far/x", fallbacks: ["lab/a"] } }, list } };
  expect(draft.removalOf(written, "lab")).toEqual({
    patch: {
      models: { providers: { lab: null } },
      agents: {
        defaults: { model: "far/x" },
        list: [
          { id: "own", model: { primary: "far/b", fallbacks: ["far/d"] } },
          { id: "lost", model: null },
        ],
      },
    },
    replacePaths: ["agents.defaults.model.fallbacks", "agents.list[1].model.fallbacks", "agents.list[2].model.fallbacks"],
  });
  expect(draft.removalOf(undefined, "lab").patch).toEqual({ models: { providers: { lab: null } } });
  expect(draft.removalOf({ agents: { defaults: { model: "laboratory/a" } } }, "lab").patch.agents).toBeUndefined();
});

test("vendors and servers of the form are those that the plugins of models know, with their ports", () => {
  const read = (name: string) => readFileSync(join(import.meta.dirname, `../model-${name}/vendors.ts`), "utf8");
  const known = ["openai-compatible", "openai", "anthropic", "google", "ollama"].map(read).join("\n");
  const offered = [...draft.vendors, ...draft.servers.filter(([, , port]: unknown[]) => port !== undefined)];
  expect(offered.filter(([id]: string[]) => !known.includes(`id: "${id}"`))).toEqual([]);
  const ports = draft.servers.filter(([id, , port]: [string, string, number?]) => {
    const line = known.split("\n").find((text) => text.includes(`id: "${id}"`) && text.includes("127.0.0.1"));
    return port !== undefined && !line?.includes(`:${port}`);
  });
  expect(ports).toEqual([]);
});
