import { describe, expect, test } from "vitest";

const { actOf, callOf, countWords, doorWords, mappingWords, nextWords, problemsOf, reasonOf, sentenceOf, stateOf, stepsOf } = await import(
  new URL("./public/core/webhook-facts.js", import.meta.url).href
);

const NOW = 1_700_000_000_000;
const delivery = (change: object = {}) => ({
  ...{ uid: "u", kind: "agent", state: "done", attempt: 1, path: "agent", agentId: "main", lane: "agent:main:hook:u" },
  ...{ createdAt: NOW, updatedAt: NOW, expiresAt: NOW + 86_400_000, steps: {} },
  ...change,
});
const list = (change: object = {}) => ({
  ...{ enabled: true, path: "/hooks", presets: [], mappings: [], isolation: "process", problems: [] },
  counts: { accepted: 0, running: 0, failed: 0, expired: 0 },
  ...change,
});

test.each([
  [delivery({ state: "accepted", attempt: 0 }), "waiting", "info"],
  [delivery({ state: "accepted" }), "tries again", "warn"],
  [delivery({ state: "running" }), "running", "busy"],
  [delivery({ result: { status: "ok" } }), "done", "ok"],
  [delivery({ result: { status: "error" } }), "run failed", "bad"],
  [delivery({ result: { status: "skipped" } }), "skipped", "info"],
  [delivery({ state: "failed" }), "failed", "bad"],
  [delivery({ state: "expired" }), "expired", "bad"],
])("a state is a word and a colour: %#", (row, word, level) => {
  expect(stateOf(row)).toEqual({ word, level });
});

test.each<[object, string | undefined]>([
  [{ state: "failed" }, "retry"],
  [{ state: "expired" }, "retry"],
  [{ state: "accepted" }, "drop"],
  [{ state: "running" }, undefined],
  [{ state: "done" }, undefined],
  [{ state: "failed", kind: "wake" }, undefined],
])("what a person may do: %j", (change, act) => {
  expect(actOf(delivery(change))).toBe(act);
});

test("the reason is that of the end, else that of the run", () => {
  const steps = { run: { status: "error", error: "out of time" } };
  expect(reasonOf(delivery({ result: { reason: "gone" }, steps }))).toBe("gone");
  expect(reasonOf(delivery({ result: { status: "error" }, steps }))).toBe("out of time");
  expect(reasonOf(delivery({ result: { reason: "" } }))).toBeUndefined();
});

test("steps are told in words, those that were not done not at all", () => {
  const steps = {
    run: { status: "ok" },
    deliver: { state: "pending", attempted: true },
    summary: { as: "event" },
    heartbeat: { woken: true },
  };
  expect(stepsOf(delivery({ steps })).map(({ name, text }: { name: string; text: string }) => `${name}: ${text}`)).toEqual([
    "Run: answered",
    "Delivery: on its way",
    "Summary: reported to the main session",
    "Heartbeat: asked for",
  ]);
  expect(
    stepsOf(delivery({ steps: { run: { status: "error", code: "TIMEOUT" }, deliver: { attempted: false, because: "silent" } } })),
  ).toEqual([
    { name: "Run", text: "ended with TIMEOUT" },
    { name: "Delivery", text: "not sent: silent" },
  ]);
});

test("only what waits has a next try or an end of its time", () => {
  expect(nextWords(delivery({ state: "accepted", notBefore: NOW + 60_000 }), NOW)).toBe("next try in 1 min");
  expect(nextWords(delivery({ state: "accepted" }), NOW)).toBe("expires in 1 d");
  expect(nextWords(delivery({ state: "running" }), NOW)).toBeUndefined();
});

describe("a call", () => {
  test("has the token as a variable, and a file where nobody knows the payload", () => {
    expect(callOf("http://h/hooks", "agent")).toBe(
      `curl http://h/hooks/agent \\\n  -H "Authorization: Bearer $HOOK_TOKEN" \\\n  -d '{"message": "Say hello", "name": "Test"}'`,
    );
    expect(callOf("http://h/hooks", "orders")).toMatch(/^curl http:\/\/h\/hooks\/orders .*HOOK_TOKEN.*-d @payload\.json$/s);
  });

  test("of a mapping is opened by what it says", () => {
    expect([undefined, "with-token" as const, "instead" as const].map((mode) => doorWords(mode && { provider: "github", mode }))).toEqual([
      "token",
      "token and signature (github)",
      "signature (github)",
    ]);
  });
});

test("a mapping is told in words", () => {
  expect(mappingWords({ id: "a", action: "agent" })).toBe("runs the default agent");
  expect(
    mappingWords({ id: "a", action: "wake", agentId: "ops", forEach: "items", source: "shop", transform: "a.ts", isUnsafe: true }),
  ).toBe("wakes agent ops · one for each of items · only source shop · a.ts · payload unframed");
});

test("a sentence says where they are taken, or that they are not", () => {
  expect(sentenceOf(list(), "http://h")).toBe("Accepted at http://h/hooks, no mappings yet.");
  expect(sentenceOf(list({ mappings: [{ id: "a", action: "wake" }] }), "http://h")).toBe("Accepted at http://h/hooks, 1 mapping.");
  expect(sentenceOf(list({ enabled: false }), "http://h")).toContain("off");
  expect(sentenceOf(list({ path: undefined }), "http://h")).toContain("not being served");
});

test("counts name only what there is", () => {
  expect(countWords({ accepted: 2, running: 0, failed: 1, expired: 0 })).toBe("2 waiting, 1 failed");
  expect(countWords({ accepted: 0, running: 0, failed: 0, expired: 0 })).toBe("Nothing waits, and nothing has failed.");
});

test("what a mapping says of itself is not said twice", () => {
  const mappings = [{ id: "a", action: "agent", broken: "a.ts is not there" }];
  expect(problemsOf(list({ mappings, problems: ['mapping "a": a.ts is not there', "the token cannot be had"] }))).toEqual([
    "the token cannot be had",
  ]);
});
