import { describe, expect, test } from "vitest";

const facts = await import(new URL("./public/core/schedule-facts.js", import.meta.url).href);
const { beatWords, factsOf, intervalWords, planFacts, planState, runState, sentenceOf, sessionOf, stateOf, whenWords, workWords } = facts;
const { draftOf, exampleDraft, paramsOf, patchOf, problemsOf } = await import(new URL("./public/core/job-draft.js", import.meta.url).href);

const NOW = 1_700_000_000_000;
const job = (change: object = {}, state: object = {}) => ({
  ...{ id: "j", name: "Report", enabled: true, sessionTarget: "isolated", wakeMode: "now" },
  ...{ schedule: { kind: "cron", expr: "0 7 * * 1-5" }, payload: { kind: "agentTurn", message: "Report." } },
  state: { consecutiveErrors: 0, ...state },
  ...change,
});

test.each([
  [{}, {}, "has not run", ""],
  [{}, { lastStatus: "ok" }, "ok", "ok"],
  [{}, { lastStatus: "error" }, "failed", "bad"],
  [{}, { lastStatus: "skipped" }, "skipped", "info"],
  [{}, { lastStatus: "interrupted" }, "interrupted", "warn"],
  [{}, { lastStatus: "ok", runningAtMs: NOW }, "running", "busy"],
  [{}, { forcedAtMs: NOW }, "waits to run", "busy"],
  [{ enabled: false }, { lastStatus: "ok" }, "off", ""],
  [{ enabled: false }, { lastStatus: "error" }, "off, failed", "bad"],
])("a job is a word and a colour: %j %j", (change, state, word, level) => {
  expect(stateOf(job(change, state))).toEqual({ word, level });
});

test("a job says when it runs next and how it went", () => {
  const state = { lastRunAtMs: NOW - 7_200_000, lastDurationMs: 4_000, consecutiveErrors: 3 };
  expect(factsOf(job({ nextRunAtMs: NOW + 60_000, agentId: "ops" }, state), NOW)).toEqual([
    ...["next in 1 min", "last 2 h ago, took 4 s", "3 failures in a row", "ops"],
  ]);
  expect(factsOf(job({ nextRunAtMs: NOW - 1 }), NOW)).toEqual(["due now"]);
  expect(factsOf(job({ nextRunAtMs: NOW + 1, enabled: false }), NOW)).toEqual([]);
});

test.each([
  ["0 7 * * 1-5", "on weekdays at 07:00"],
  ["5 22 * * *", "daily at 22:05"],
  ["30 9 * * 0", "on Sundays at 09:30"],
  ["0 9 * * 6,0", "at weekends at 09:00"],
  ["0 * * * *", "every hour"],
  ["*/15 * * * *", "every 15 min"],
  ["0 7 1 * *", "0 7 1 * *"],
  ["0 7,19 * * *", "0 7,19 * * *"],
  ["0 7 * * 9", "0 7 * * 9"],
  ["nonsense", "nonsense"],
])("the crontab %j is told as %j", (expr, words) => {
  expect(whenWords({ kind: "cron", expr })).toBe(words);
});

test("other times are told in words, too", () => {
  expect(whenWords({ kind: "cron", expr: "0 7 * * *", tz: "Europe/Berlin" })).toBe("daily at 07:00, Europe/Berlin");
  expect(whenWords({ kind: "every", everyMs: 5_400_000 })).toBe("every 1 h 30 min");
  expect(whenWords({ kind: "at", at: "2026-11-28T10:00:00Z" })).toMatch(/^once, .*2026/);
  expect([0, 1_500, 86_461_000].map(intervalWords)).toEqual(["0 s", "1 s 500 ms", "1 d 1 min 1 s"]);
});

test("what a job does is told in words", () => {
  expect(workWords(job())).toBe("Asks in a session of its own");
  expect(workWords(job({ delivery: { mode: "announce" } }))).toBe("Asks in a session of its own, and tells the answer");
  expect(workWords(job({ payload: { kind: "systemEvent", text: "x" } }))).toBe("Leaves a line in the main session");
  expect(["ok", "skipped", "error"].map((status) => runState({ status }).word)).toEqual(["ok", "skipped", "failed"]);
});

test("a run that asked in a session of its own leads there", () => {
  expect(sessionOf(job(), { runId: "j-1", status: "ok" }, "main")).toBe("agent:main:cron:j:run:j-1");
  expect(sessionOf(job({ agentId: "ops" }), { runId: "j-1", status: "error" }, "main")).toBe("agent:ops:cron:j:run:j-1");
  expect(sessionOf(job(), { runId: "j-1", status: "skipped" }, "main")).toBeUndefined();
  expect(sessionOf(job({ sessionTarget: "main" }), { runId: "j-1", status: "ok" }, "main")).toBeUndefined();
});

test("a sentence counts jobs and names the next run, or says that none is run", () => {
  expect(sentenceOf({ enabled: true, jobs: 3, running: 1, nextWakeAtMs: NOW + 720_000 }, NOW)).toBe(
    "3 jobs, 1 running, the next in 12 min.",
  );
  expect(sentenceOf({ enabled: true, jobs: 0, running: 0 }, NOW)).toBe("0 jobs, nothing is due.");
  expect(sentenceOf({ enabled: false, jobs: 1, running: 0 }, NOW)).toMatch(/^1 job\. None is run/);
});

test("a heartbeat says whether it is planned, and how the last one went", () => {
  const plan = {
    agentId: "main",
    enabled: true,
    every: "30m",
    everyMs: 1_800_000,
    target: "last",
    lastRunAt: NOW - 60_000,
    nextRunAt: NOW + 60_000,
  };
  expect(planFacts(plan, NOW)).toEqual(["every 30 min", "tells last", "next in 1 min", "last 1 min ago"]);
  expect(planFacts({ ...plan, enabled: false, everyMs: 0, target: "none", lastRunAt: undefined }, NOW)).toEqual(["tells nobody"]);
  expect([plan, { ...plan, enabled: false }, { ...plan, everyMs: 0 }].map((one) => planState(one).word)).toEqual([
    "on",
    "off",
    "not planned",
  ]);
  expect(beatWords({ ts: NOW - 60_000, agentId: "main", status: "sent", preview: "Rain." }, NOW)).toBe(
    "The last one (main) had something to say, 1 min ago: Rain.",
  );
  expect(beatWords({ ts: NOW, status: "skipped", reason: "lane-busy" }, NOW)).toBe("The last one was skipped, just now: lane-busy");
});

describe("a draft", () => {
  test("of a new job is one that the gateway takes as it stands", () => {
    const draft = exampleDraft("Europe/Berlin");
    expect(problemsOf(draft)).toEqual({});
    expect(paramsOf(draft)).toEqual({
      name: "Morning summary",
      schedule: { kind: "cron", expr: "0 7 * * 1-5", tz: "Europe/Berlin" },
      sessionTarget: "isolated",
      wakeMode: "now",
      payload: { kind: "agentTurn", message: draft.text },
      delivery: { mode: "announce" },
    });
  });

  test.each([
    [{ name: " " }, ["name"]],
    [{ name: "x".repeat(201) }, ["name"]],
    [{ text: "" }, ["text"]],
    [{ expr: "* * * *" }, ["expr"]],
    [{ kind: "every", every: "0" }, ["every"]],
    [{ kind: "every", every: "x" }, ["every"]],
    [{ kind: "every", every: "367", unit: "days" }, ["every"]],
    [{ kind: "every", every: "0.5", unit: "seconds" }, ["every"]],
    [{ kind: "at", at: "" }, ["at"]],
    [{ kind: "at", at: "2026-11-28T10:00", expr: "" }, []],
  ])("says what is wrong with it: %j", (change, fields) => {
    expect(Object.keys(problemsOf({ ...exampleDraft(""), ...change }))).toEqual(fields);
  });

  test("of a line for the main session has no delivery, model or session of its own", () => {
    const draft = {
      ...exampleDraft(""),
      target: "main",
      wakeMode: "next-heartbeat",
      text: " Look at the mail. ",
      kind: "every",
      every: "2",
      unit: "hours",
    };
    expect(paramsOf(draft)).toEqual({
      name: "Morning summary",
      schedule: { kind: "every", everyMs: 7_200_000 },
      sessionTarget: "main",
      wakeMode: "next-heartbeat",
      payload: { kind: "systemEvent", text: "Look at the mail." },
    });
  });

  const full = job({
    agentId: "ops",
    schedule: { kind: "cron", expr: "0 7 * * *", tz: "UTC", staggerMs: 5_000 },
    payload: { kind: "agentTurn", message: "Report.", model: "a/b", thinking: "low", timeoutSeconds: 60 },
    delivery: { mode: "announce", channel: "irc", to: "#ops", bestEffort: true },
    deleteAfterRun: true,
  });

  test("that was not changed makes no patch", () => {
    const jobs = [
      full,
      job(),
      job({ schedule: { kind: "every", everyMs: 90_000, anchorMs: 5 } }),
      job({ schedule: { kind: "at", at: "2026-11-28T10:00:00.000Z" } }),
    ];
    for (const one of jobs) expect(patchOf(draftOf(one), one), JSON.stringify(one)).toBeUndefined();
  });

  test("carries only what was changed, and keeps what it does not show", () => {
    const draft = draftOf(full);
    expect(patchOf({ ...draft, name: "Daily" }, full)).toEqual({ name: "Daily" });
    expect(patchOf({ ...draft, text: "Other." }, full)).toEqual({
      payload: { kind: "agentTurn", message: "Other.", model: "a/b", thinking: "low", timeoutSeconds: 60 },
    });
    expect(patchOf({ ...draft, expr: "0 8 * * *" }, full)).toEqual({
      schedule: { kind: "cron", expr: "0 8 * * *", tz: "UTC", staggerMs: 5_000 },
    });
    expect(patchOf({ ...draft, to: "#all" }, full)).toEqual({
      delivery: { bestEffort: true, mode: "announce", channel: "irc", to: "#all" },
    });
  });

  test("clears what was taken away", () => {
    expect(patchOf({ ...draftOf(full), agentId: "", announce: false, isOnce: false }, full)).toEqual({
      ...{ agentId: null, delivery: null, deleteAfterRun: false },
    });
  });
});
