import { expect, test } from "vitest";

const facts = await import(new URL("./public/core/explain-facts.js", import.meta.url).href);

const usage = (change: object = {}) => ({ input: 100, output: 20, cacheRead: 0, cacheWrite: 0, total: 120, ...change });
const attempt = (change: object = {}) => ({ turn: 1, provider: "acme", model: "m", at: 1_000, ms: 500, messages: 3, ...change });
const run = (change: object = {}) => ({
  status: "ok",
  model: "acme/m",
  durationMs: 2_400,
  attempts: [attempt()],
  tools: [],
  usage: usage({ cost: 0.5 }),
  ...change,
});

test("a run is told in a sentence", () => {
  expect(facts.sentenceOf(run())).toBe("acme/m answered in 2.4 s: 1 request, 120 tokens, $0.50.");
  const failed = { status: "error", model: undefined, tools: [{}, {}], attempts: [attempt({ messages: 0 })], usage: usage() };
  expect(facts.sentenceOf(run(failed))).toBe(
    "No model was asked and failed in 2.4 s: 0 requests, 2 tool calls, 120 tokens, of unknown cost.",
  );
});

test("time has the unit that fits", () => {
  expect([0, 840, 1_000, 2_440, 60_000, 185_400].map(facts.tookWords)).toEqual(["0 ms", "840 ms", "1 s", "2.4 s", "1 min", "3 min 5 s"]);
});

test("a request says how it ended, and what passed before it without a model or a tool at work", () => {
  const attempts = [
    attempt({ fault: "overloaded", error: "529" }),
    attempt({ at: 3_500, toolCalls: 1, finish: "tool_calls" }),
    attempt({ turn: 2, at: 5_000, finish: "stop" }),
    attempt({ turn: 3, at: 5_500, messages: 0, fault: "cooldown" }),
  ];
  const rows = facts
    .withWaits(attempts, [{ at: 4_000, ms: 900 }])
    .map(({ waitedMs, outcome }: { waitedMs: number; outcome: string }) => [waitedMs, outcome]);
  expect(rows).toEqual([
    [0, "failed (overloaded): 529"],
    [2_000, "wanted 1 tool call"],
    [100, "answered"],
    [0, "not asked: cooldown"],
  ]);
  expect(facts.turnsAsked(attempts)).toEqual([1, 2]);
  expect(
    facts.withWaits([attempt({ fault: "aborted" }), attempt({ finish: "length" })], []).map(({ outcome }: { outcome: string }) => outcome),
  ).toEqual(["stopped", "ended: length"]);
});

test("a message of the prompt is headed by its role and what is special about it", () => {
  const message = { role: "tool", name: "read", text: "abc", isError: true, isCut: true, media: 2, calls: [] };
  expect(facts.messageTitle(message)).toEqual({
    role: "Tool",
    facts: ["read", "2 pictures and files", "error", "not stored in full", "3 characters"],
  });
  expect(facts.messageTitle({ role: "assistant", text: "", calls: [{}] }).facts).toEqual(["1 call", "0 characters"]);
});

test("tokens that there are none of are left out, but for the two that everybody looks for", () => {
  expect(facts.usageRows(usage({ output: 0, cacheRead: 1_200 }))).toEqual([
    ["In", "100"],
    ["From the cache", "1,200"],
    ["Out", "0"],
    ["All", "120"],
    ["Cost", "no price"],
  ]);
});

test("a replay is compared figure by figure", () => {
  const original = { usage: usage({ cost: 0.4 }), durationMs: 2_000, calls: [1] };
  const again = { usage: usage({ input: 150, total: 170, cost: 0.1 }), durationMs: 500, calls: [1] };
  const rows = facts
    .comparison({ original, replay: again })
    .map(({ word, before, after, difference }: Record<string, string>) => [word, before, after, difference]);
  expect(rows).toEqual([
    ["Tokens in", "100", "150", "+50 (+50 %)"],
    ["Tokens out", "20", "20", "same"],
    ["All tokens", "120", "170", "+50 (+42 %)"],
    ["Cost", "$0.40", "$0.10", "−$0.30 (−75 %)"],
    ["Time", "2 s", "500 ms", "−1.5 s (−75 %)"],
    ["Tool calls", "1", "1", "same"],
  ]);
  expect(facts.comparison({ original: { ...original, usage: usage() }, replay: again })[3]).toMatchObject({
    before: "no price",
    difference: "not known",
  });
});

test.each([
  [undefined, undefined],
  [{ reason: "tool", tool: "exec" }, /wanted to call exec/],
  [{ reason: "turns" }, /turns were used up/],
  [{ reason: "timeout" }, /time limit/],
  [{ reason: "fault", error: "auth: no key" }, /^The model failed: auth: no key$/],
])("a replay that was stopped by %j says why", (stopped, expected) => {
  const words = facts.stoppedWords(stopped);
  if (expected === undefined) expect(words).toBeUndefined();
  else expect(words).toMatch(expected);
});
