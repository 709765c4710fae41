import { type JsonObject, type StoreOp, SvcError } from "svc/sdk";
import { beforeEach, expect, test } from "vitest";
import type { MadeTrace } from "./make-trace.ts";
import type { StoredTrace } from "./stored-trace.ts";
import { TraceLog } from "./trace-log.ts";

const DAY_MS = 86_400_000;
let rows: Map<string, Map<string, unknown>>;
let transcripts: Set<string>;
let now: number;
let isDown: boolean;
let warnings: string[];

beforeEach(() => {
  rows = new Map(["run-trace", "run-trace-index", "run-trace-block"].map((scope) => [scope, new Map()]));
  [transcripts, now, isDown, warnings] = [new Set(["s1", "s2"]), 1_000 * DAY_MS, false, []];
});

function open(limits = { runs: 3, singles: 2, ageMs: 30 * DAY_MS, chars: 1_000_000 }): TraceLog {
  const store = {
    kv: {
      get: async (scope: string, key: string) => rows.get(scope)?.get(key),
      list: async (scope: string) => {
        if (isDown) throw new Error("the disk is away");
        return [...(rows.get(scope) ?? [])].map(([key, value]) => ({ key, value }));
      },
    },
    messages: { scan: async (sessionId: string) => (transcripts.has(sessionId) ? [{}] : []) },
    async commit(ops: StoreOp[]) {
      if (isDown) throw new SvcError("storage-unavailable", { message: "the disk is away" } as never);
      for (const op of ops) {
        if (op.op === "kv.put") rows.get(op.scope)?.set(op.key, structuredClone(op.value));
        if (op.op === "kv.delete") rows.get(op.scope)?.delete(op.key);
      }
      return [];
    },
  };
  return new TraceLog({
    store: () => store as never,
    clock: { now: () => now },
    logger: { warn: (text: string) => warnings.push(text) },
    limits,
  });
}

/** Stores a trace as the end of a run does. */
async function add(
  log: TraceLog,
  runId: string,
  {
    sessionId = "s1",
    sessionKey = "agent:main:main",
    texts = { system: "be brief" },
  }: { sessionId?: string; sessionKey?: string; texts?: Record<string, string> } = {},
) {
  const names = Object.keys(texts);
  const blocks = new Map(names.filter((name) => !log.isKnown(name)).map((name) => [name, { text: texts[name] ?? "" }]));
  now += 1;
  const made: MadeTrace = { trace: { v: 1, runId, sessionId, sessionKey, endedAt: now } as StoredTrace, blocks, names };
  const ticket = log.ticket(made);
  if (!ticket) throw new Error("a block is gone");
  try {
    await commit(ticket.ops);
    ticket.stored();
  } catch {
    ticket.lost();
  }
}
async function commit(ops: StoreOp[]) {
  if (isDown) throw new Error("the disk is away");
  for (const op of ops) {
    if (op.op === "kv.put") rows.get(op.scope)?.set(op.key, structuredClone(op.value));
    if (op.op === "kv.delete") rows.get(op.scope)?.delete(op.key);
  }
}
const stored = (scope = "run-trace") => [...(rows.get(scope)?.keys() ?? [])].sort();

test("the newest runs are kept, and a block as long as one of them names it", async () => {
  const log = open();
  await add(log, "r1", { texts: { system: "be brief", day: "monday" } });
  for (const runId of ["r2", "r3"]) await add(log, runId);
  expect([stored(), stored("run-trace-block")]).toEqual([
    ["r1", "r2", "r3"],
    ["day", "system"],
  ]);

  await add(log, "r4");

  expect([stored(), stored("run-trace-index"), stored("run-trace-block")]).toEqual([["r2", "r3", "r4"], ["r2", "r3", "r4"], ["system"]]);
  expect(await log.read("r1")).toBeUndefined();
  expect(await log.block("system")).toEqual({ text: "be brief" });
});

test("all of them together have a size", async () => {
  const log = open({ runs: 100, singles: 2, ageMs: DAY_MS, chars: 5_000 });
  for (let i = 0; i < 20; i++) await add(log, `r${i}`, { texts: { [`b${i}`]: "x".repeat(1_000) } });
  expect(stored()).toEqual(["r16", "r17", "r18", "r19"]);
  expect(stored("run-trace-block")).toEqual(["b16", "b17", "b18", "b19"]);
});

test("one that is larger than that is kept until the next", async () => {
  const log = open({ runs: 100, singles: 2, ageMs: DAY_MS, chars: 500 });
  await add(log, "r1", { texts: { big: "x".repeat(1_000) } });
  expect(stored()).toEqual(["r1"]);
  await add(log, "r2");
  expect([stored(), stored("run-trace-block")]).toEqual([["r2"], ["system"]]);
});

test("of requests without a session of their own the newest few are kept", async () => {
  const log = open({ runs: 100, singles: 2, ageMs: DAY_MS, chars: 1_000_000 });
  await add(log, "r0");
  for (const i of [1, 2, 3, 4]) await add(log, `r${i}`, { sessionKey: `agent:main:openai:0b4f2b0e-0000-4000-8000-00000000000${i}` });
  expect(stored()).toEqual(["r0", "r3", "r4"]);
  const later = open({ runs: 100, singles: 1, ageMs: DAY_MS, chars: 1_000_000 });
  await later.loaded();
  expect(stored()).toEqual(["r0", "r4"]);
});

test("a run that ends again takes the place of its first end, with the blocks that both name", async () => {
  const log = open();
  await add(log, "r1", { texts: { system: "be brief", old: "x" } });
  await add(log, "r1");
  expect([stored(), stored("run-trace-block")]).toEqual([["r1"], ["system"]]);
});

test("a later process goes on with what it finds", async () => {
  const before = open();
  for (const runId of ["r1", "r2", "r3"]) await add(before, runId);

  const log = open();
  expect(log.isKnown("system")).toBe(false);
  await log.loaded();
  expect(log.isKnown("system")).toBe(true);
  await add(log, "r4");
  expect(stored()).toEqual(["r2", "r3", "r4"]);

  const less = open({ runs: 1, singles: 2, ageMs: DAY_MS, chars: 1_000_000 });
  await less.loaded();
  expect(stored()).toEqual(["r4"]);
});

test("runs that end before the list is read count as well", async () => {
  const before = open();
  for (const runId of ["r1", "r2", "r3"]) await add(before, runId);
  const log = open();
  const reading = log.loaded();
  await add(log, "r4");
  await reading;
  await add(log, "r5");
  expect(stored()).toEqual(["r3", "r4", "r5"]);
  expect(stored("run-trace-block")).toEqual(["system"]);
});

test("a block whose trace was not stored is not taken for stored", async () => {
  const log = open();
  isDown = true;
  await add(log, "r1");
  await log.loaded();
  expect([stored(), log.isKnown("system"), warnings.length > 0]).toEqual([[], false, true]);
  isDown = false;
  await add(log, "r2");
  expect([stored(), stored("run-trace-block")]).toEqual([["r2"], ["system"]]);
});

test("runs that were to make room for one that was not stored are known as before, and so is one on its way", async () => {
  const log = open();
  for (const runId of ["r1", "r2", "r3"]) await add(log, runId);
  const trace = { v: 1, runId: "r5", sessionId: "s2", sessionKey: "agent:main:main", endedAt: now + 9 } as StoredTrace;
  const other = log.ticket({ trace, blocks: new Map([["late", { text: "x" }]]), names: ["late"] });
  isDown = true;
  await add(log, "r4");
  isDown = false;
  await log.loaded();
  expect(log.isKnown("system")).toBe(true);
  await commit(other?.ops ?? []);
  other?.stored();
  expect([stored(), log.isKnown("late")]).toEqual([["r2", "r3", "r5"], true]);
  await commit(await log.dropOps({ sessionId: "s2" }));
  expect([stored(), stored("run-trace-block")]).toEqual([["r2", "r3"], ["system"]]);
});

test("what belongs to a transcript goes with it", async () => {
  const log = open();
  await add(log, "r1");
  await add(log, "r2", { sessionId: "s2", texts: { other: "x" } });

  await commit(await log.dropOps({ sessionId: "s2" }));
  expect([stored(), stored("run-trace-block")]).toEqual([["r1"], ["system"]]);
  await commit(await log.dropOps({ runId: "r1" }));
  expect([stored(), stored("run-trace-index"), stored("run-trace-block")]).toEqual([[], [], []]);
});

test("traces of transcripts that are gone, and old ones, are deleted from time to time", async () => {
  const log = open();
  await add(log, "r1");
  await add(log, "r2", { sessionId: "s2" });
  transcripts.delete("s1");
  await log.maintain(AbortSignal.timeout(5_000));
  expect(stored()).toEqual(["r2"]);
  now += 31 * DAY_MS;
  await log.maintain(AbortSignal.timeout(5_000));
  expect([stored(), stored("run-trace-block")]).toEqual([[], []]);
});

test("a block that was deleted meanwhile has to be made again", () => {
  const log = open();
  const trace = { v: 1, runId: "r1", sessionId: "s1", sessionKey: "agent:main:main", endedAt: 1 } as StoredTrace;
  expect(log.ticket({ trace, blocks: new Map(), names: ["system"] } satisfies MadeTrace)).toBeUndefined();
});

test("values of another version are nobody's trace", async () => {
  rows.get("run-trace")?.set("r1", { v: 2 } satisfies JsonObject);
  expect(await open().read("r1")).toBeUndefined();
});
