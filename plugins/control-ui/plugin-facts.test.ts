import { expect, test } from "vitest";

const facts = await import(new URL("./public/core/plugin-facts.js", import.meta.url).href);
const { actsOf, configKeys, contributionsOf, isInTrouble, lossWords, notesOf, reasonOf, sentenceOf, shownOf, stateOf } = facts;

const NOW = 1_700_000_000_000;
const plugin = (runtime: object = {}, change: object = {}) => ({
  ...{
    id: "weather",
    name: "Weather",
    version: "1.0.0",
    description: "Tells the weather",
    origin: "global",
    enabled: true,
    state: "enabled",
  },
  runtime: { state: "active", since: NOW, instance: 1, ...runtime },
  ...{ hooks: [], diagnostics: [] },
  ...change,
});
const resting = { hook: "agent.end", tap: "count", state: "open", failures: 3, until: NOW + 60_000, lastError: "boom" };

test.each([
  [{}, "active", "ok", ["disable"]],
  [{ state: "ready" }, "loads when used", "", ["disable"]],
  [{ state: "loading" }, "loading", "busy", ["disable"]],
  [{ state: "degraded" }, "degraded", "warn", ["reload", "disable"]],
  [{ state: "degraded", code: "blocked-event-loop" }, "degraded", "warn", ["release", "reload", "disable"]],
  [{ state: "retrying" }, "tries again", "warn", ["reload", "disable"]],
  [{ state: "failed", code: "import-failed" }, "failed", "bad", ["reload", "disable"]],
  [{ state: "blocked", code: "integrity" }, "blocked", "bad", ["disable"]],
  [{ state: "blocked", code: "quarantined" }, "quarantined", "bad", ["release", "disable"]],
  [{ state: "disabled" }, "off", "", ["enable"]],
  [{ state: "molten" }, "molten", "", ["disable"]],
])("a state is a word, a colour and what helps now: %j", (runtime, word, level, acts) => {
  expect(stateOf(plugin(runtime))).toEqual({ word, level });
  expect(actsOf(plugin(runtime))).toEqual(acts);
});

test("a hook that rests makes an active plugin one that needs somebody, and says for how long", () => {
  const row = plugin({}, { hooks: [resting] });
  expect([stateOf(row).word, isInTrouble(row)]).toEqual(["hooks rest", true]);
  expect(notesOf(row, NOW)).toEqual(["The hook agent.end (count) is not called after 3 failures: boom. It is called again in 1 min."]);
});

test("the reason stands with its code; one that was switched off needs none", () => {
  const failed = { state: "failed", code: "import-failed", reason: "index.ts:3: x is not defined", hint: "fix it" };
  expect(reasonOf(plugin(failed, { error: failed.reason }))).toBe("import-failed: index.ts:3: x is not defined");
  expect(reasonOf(plugin({ state: "failed" }, { error: "it broke" }))).toBe("it broke");
  expect(reasonOf(plugin({ state: "disabled", reason: "is not true" }, { error: "is not true" }))).toBeUndefined();
  expect(reasonOf(plugin())).toBeUndefined();
});

test("what else is to be known of it is told once", () => {
  const lastReload = { at: NOW, status: "rolled-back", error: "setup threw" };
  const row = plugin(
    { state: "failed", reason: "two routes", hint: "rename one", isolation: "worker", lastReload },
    {
      diagnostics: [
        { code: "route-conflict", message: "two routes" },
        { code: "reserved-name", message: "cron.list is taken" },
      ],
    },
  );
  expect(notesOf(row, NOW)).toEqual([
    "What to do: rename one.",
    "Runs in a worker of its own.",
    "The last reload rolled-back: setup threw",
    "reserved-name: cron.list is taken",
  ]);
});

test("filters and words select, those that need somebody first", () => {
  const list = [
    plugin({}, { id: "a" }),
    plugin({ state: "failed" }, { id: "b", name: "Broken" }),
    plugin({ state: "disabled" }, { id: "c" }),
  ];
  const ids = (wish: object) => shownOf(list, { f: "all", q: "", ...wish }).map(({ id }: { id: string }) => id);
  expect([ids({}), ids({ f: "on" }), ids({ f: "off" }), ids({ f: "trouble" }), ids({ q: "tells BROKEN" }), ids({ q: "rain" })]).toEqual([
    ["b", "a", "c"],
    ["b", "a"],
    ["c"],
    ["b"],
    ["b"],
    [],
  ]);
  expect(sentenceOf(list)).toBe("2 of 3 plugins on. 1 needs you.");
  expect(sentenceOf([plugin()])).toBe("1 of 1 plugin on.");
});

test("contributions are told by kind, and as what is lost", () => {
  const declared = { tools: ["a", "b"], channels: [], methods: ["x.y"], spells: ["z"] };
  expect(contributionsOf(declared)).toEqual([
    { kind: "tools", names: ["a", "b"] },
    { kind: "method", names: ["x.y"] },
    { kind: "spells", names: ["z"] },
  ]);
  expect(lossWords(declared)).toBe("What it adds goes at once: 2 tools, 1 method, 1 spells.");
  expect(lossWords({ tools: [] })).toBe("It adds nothing that others could miss.");
});

test("config keys have what their author says of them", () => {
  const schema = { properties: { city: { type: "string", description: "Where" }, days: { type: "integer", default: 3 }, odd: true } };
  expect(configKeys(schema)).toEqual([
    { key: "city", text: "Where" },
    { key: "days", text: "integer · default 3" },
    { key: "odd", text: "" },
  ]);
  expect(configKeys(undefined)).toEqual([]);
});
