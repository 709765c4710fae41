import { expect, test } from "vitest";

const page = (name: string) => import(new URL(`./public/core/${name}`, import.meta.url).href);
const usage = await page("usage-facts.js");
const audit = await page("audit-facts.js");
const agent = await page("agent-facts.js");

const NOW = 1_700_000_000_000;
const totals = (change: object = {}) => ({
  ...{ runs: 1, replays: 0, errors: 0, input: 10, output: 5, cacheRead: 2, cacheWrite: 1, costUsd: 0.5, unpriced: 0 },
  ...change,
});

test("a cost is told in dollars, a small one in parts of a cent, and none where no price is known", () => {
  expect([undefined, 0, 0.0034, 0.5, 1_204.5].map(usage.costWords)).toEqual(["no price", "$0.00", "$0.0034", "$0.50", "$1,204.50"]);
  expect(usage.unpricedWords(totals())).toBeUndefined();
  expect(usage.unpricedWords(totals({ unpriced: 2 }))).toBe("The price of 2 runs is not known: the cost is at least what is shown.");
});

test("sums say how many runs failed, and tokens of every kind", () => {
  expect(usage.sentenceOf({ total: totals({ runs: 3, errors: 1 }) })).toBe("3 runs, 1 of them failed, 18 tokens, $0.50.");
  expect(usage.sentenceOf({ total: totals({ costUsd: undefined }) })).toBe("1 run, 18 tokens, of unknown cost.");
});

test("days stand newest first, others by cost and then by tokens", () => {
  const rows = (names: string[]) =>
    names.map((name) => ({ name, ...totals({ costUsd: name === "c" ? 9 : 1, input: name === "b" ? 99 : 10 }) }));
  const order = (by: string, names: string[]) => usage.inOrder({ by, rows: rows(names) }).map(({ name }: { name: string }) => name);
  expect(order("day", ["2026-11-01", "2026-11-03", "2026-11-02"])).toEqual(["2026-11-03", "2026-11-02", "2026-11-01"]);
  expect(order("model", ["a", "b", "c"])).toEqual(["c", "b", "a"]);
  expect([usage.nameWords("model", "2026-11-03"), usage.nameWords("day", "nonsense")]).toEqual(["2026-11-03", "nonsense"]);
  expect(usage.nameWords("day", "2026-11-03")).toMatch(/3/);
});

test("an entry says who acted, and opens to all it holds", () => {
  expect(audit.actorWords({ kind: "gateway", id: "gateway" })).toBe("the gateway");
  expect(audit.actorWords({ kind: "operator", id: "ada", remote: "192.0.2.7" })).toBe("operator ada, from 192.0.2.7");
  expect(audit.actorWords({ kind: "operator", id: "ab".repeat(32) })).toBe("device abababab");
  const entry = { seq: 1_204, at: NOW, action: "tool.called", actor: { kind: "agent", id: "main" }, outcome: "ok", hash: "ab" };
  expect(audit.factsOf({ ...entry, details: { tool: "read", ok: true } })).toEqual([
    ["tool", "read"],
    ["ok", "true"],
    ["actor", "main"],
    ["entry", "1,204"],
    ["hash", "ab"],
  ]);
});

test("a check of the chain ends in a sentence", () => {
  const head = { seq: 12, hash: "ab" };
  expect(audit.verdictWords({ ok: true, checked: 12, from: 0, head })).toBe(
    "12 entries checked: none was changed or removed up to entry 12.",
  );
  expect(audit.verdictWords({ ok: true, checked: 1, from: 11, head })).toBe(
    "1 entry checked, from entry 12 on: none was changed or removed up to entry 12.",
  );
  expect(audit.verdictWords({ ok: false, checked: 3, from: 0, head, problem: { seq: 4, reason: "its hash does not fit" } })).toBe(
    "The chain is broken at entry 4: its hash does not fit.",
  );
});

test.each([
  ["ready", "ready", "ok"],
  ["embedded", "quotes notes", "info"],
  ["cooldown", "in cooldown", "warn"],
  ["unknown", "not offered", "bad"],
  ["key-rejected", "key rejected", "bad"],
  ["unreachable", "unreachable", "bad"],
])("a model that is %s is told as %s", (state, word, level) => {
  expect(agent.modelState({ state })).toEqual({ word, level });
});

test("an agent has the name that it gives itself, and a model with its provider", () => {
  expect([{ id: "a", name: "b", identity: { name: "c" } }, { id: "a", name: "b" }, { id: "a" }].map(agent.nameOf)).toEqual(["c", "b", "a"]);
  expect([{ provider: "p", model: "m" }, { provider: "", model: "m" }, undefined].map(agent.modelName)).toEqual(["p/m", "m", "no model"]);
  expect(agent.sentenceOf({ agents: [{}], defaultId: "main" })).toBe("1 agent, the default one is main.");
});

test("a file says how large it is and when it was changed, or that it is not there", () => {
  expect(agent.fileWords({ missing: true }, NOW)).toBe("not there yet");
  expect(agent.fileWords({ missing: false, size: 1, updatedAtMs: NOW }, NOW)).toBe("1 byte, changed just now");
  expect(agent.fileWords({ missing: false, size: 12_345, updatedAtMs: NOW - 7_200_000 }, NOW)).toBe("12.3 kB, changed 2 h ago");
});
