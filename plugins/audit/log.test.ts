import { eventually, fakeClock } from "svc/sdk/testing";
import { expect, test } from "vitest";
import type { Draft, Entry, Link } from "./entry.ts";
import { AuditLog } from "./log.ts";
import { listEntries, verifyChain } from "./read.ts";
import { type AuditRows, blockOf } from "./rows.ts";

const { signal } = new AbortController();
const act = (action: string): Omit<Draft, "at"> => ({ action, actor: { kind: "agent", id: "main" }, outcome: "ok" });

/** Rows in memory; `fault` is thrown by the next writes. */
function memoryRows() {
  const stored = new Map<number, Entry>();
  const state: { head: Link; checkpoint: Link; fault: unknown; isLost: boolean } = {
    ...{ head: { seq: 0, hash: "0".repeat(64) }, checkpoint: { seq: 0, hash: "0".repeat(64) }, fault: undefined, isLost: false },
  };
  const rows: AuditRows = {
    head: async () => state.head,
    checkpoint: async () => state.checkpoint,
    block: async (index) => [...stored.values()].filter(({ seq }) => blockOf(seq) === index).sort((a, b) => a.seq - b.seq),
    async append(entries) {
      if (state.fault !== undefined) throw state.fault;
      if (entries.some(({ seq }) => stored.has(seq))) throw new Error("exists");
      for (const entry of entries) stored.set(entry.seq, structuredClone(entry));
      const last = entries.at(-1) as Entry;
      state.head = { seq: last.seq, hash: last.hash };
      if (!state.isLost) return;
      state.isLost = false;
      throw new Error("the writer has gone");
    },
    async drop(entries, last) {
      for (const { seq } of entries) stored.delete(seq);
      state.checkpoint = { seq: last.seq, hash: last.hash };
    },
  };
  return { rows, stored, state };
}

function open(maxEntries = 100_000) {
  const memory = memoryRows();
  const clock = fakeClock();
  const warnings: string[] = [];
  const note = (message: string) => void warnings.push(message);
  const logger = { trace: note, debug: note, info: note, warn: note, error: note, child: () => logger };
  const log = new AuditLog({ rows: memory.rows, clock, timers: clock, logger, signal, maxEntries });
  const fill = async (count: number) => {
    for (let i = 0; i < count; i++) {
      log.add(act(`step.${i}`));
      if (i % 500 === 499) await log.flushed();
    }
    await log.flushed();
  };
  return { ...memory, log, clock, warnings, fill };
}

test("acts are chained in the order in which they were reported, and the chain holds", async () => {
  const { log, rows, stored, state } = open();
  for (const action of ["one", "two", "three"]) log.add(act(action));
  await log.flushed();
  expect([...stored.values()].map(({ seq, action }) => [seq, action])).toEqual([
    [1, "one"],
    [2, "two"],
    [3, "three"],
  ]);
  expect(await verifyChain(rows, { signal })).toEqual({ ok: true, checked: 3, from: 0, head: state.head });
});

test.each<[string, (memory: ReturnType<typeof memoryRows>) => void, number, RegExp]>([
  ["a changed entry", ({ stored }) => Object.assign(stored.get(2) as Entry, { outcome: "error" }), 2, /was changed/],
  ["a removed entry", ({ stored }) => void stored.delete(2), 2, /is missing; the next one is 3/],
  ["a cut end", ({ stored }) => void stored.delete(3), 3, /ends here, but 3 entries were written/],
  ["a forged hash", ({ stored }) => Object.assign(stored.get(3) as Entry, { hash: "f".repeat(64) }), 3, /was changed/],
])("%s is found, with its place", async (_, tamper, seq, reason) => {
  const own = open();
  await own.fill(3);
  tamper(own);
  expect((await verifyChain(own.rows, { signal })).problem).toEqual({ seq, reason: expect.stringMatching(reason) });
});

test("a log that was written anew from the start is found by a place that was noted before", async () => {
  const own = open();
  await own.fill(3);
  const known = own.state.head;
  own.stored.clear();
  Object.assign(own.state, memoryRows().state);
  const again = new AuditLog({ ...own, timers: own.clock, logger: console as never, signal, maxEntries: 100_000 });
  for (const action of ["a", "b", "c", "d"]) again.add(act(action));
  await again.flushed();
  expect((await verifyChain(own.rows, { signal })).ok).toBe(true);
  expect((await verifyChain(own.rows, { known, signal })).problem).toEqual({ seq: 3, reason: "the entry is not the one that was known" });
});

test("old entries are replaced by a checkpoint from which the chain still holds", async () => {
  const { rows, state, stored, fill } = open(2_000);
  await fill(3_200);
  expect(state.checkpoint.seq).toBe(999);
  expect(stored.has(999)).toBe(false);
  expect([...stored.values()].filter(({ action }) => action === "audit.pruned")).toMatchObject([
    { details: { through: 999, hash: state.checkpoint.hash } },
  ]);
  expect(await verifyChain(rows, { signal })).toMatchObject({ ok: true, from: 999, checked: 3_201 - 999 });
  expect(await verifyChain(rows, { lastBlocks: 1, signal })).toMatchObject({ ok: true, checked: 202 });
});

test("while the storage is away acts wait, and what is beyond the bound is counted in the log itself", async () => {
  const { log, state, stored, clock, warnings } = open();
  state.fault = new Error("disk full");
  for (let i = 0; i < 1_005; i++) log.add(act(`step.${i}`));
  await eventually(() => expect(warnings).toEqual([expect.stringContaining("cannot be written")]));
  state.fault = undefined;
  await clock.advance(1_000);
  await log.flushed();
  expect(stored.size).toBe(1_001);
  expect(stored.get(1_001)).toMatchObject({ action: "audit.lost", details: { count: 5 } });
});

test("a commit whose answer was lost is stored once", async () => {
  const { log, state, stored, clock, warnings } = open();
  state.isLost = true;
  log.add(act("one"));
  await eventually(() => expect(warnings).toHaveLength(1));
  await clock.advance(1_000);
  await log.flushed();
  expect([...stored.values()].map(({ action }) => action)).toEqual(["one"]);
});

test("entries are listed from the newest on, filtered, and in pages", async () => {
  const { rows, log, fill } = open();
  await fill(2_100);
  log.add({ ...act("tool.called"), actor: { kind: "agent", id: "ops" } });
  await log.flushed();
  const seqs = async (question: object) => (await listEntries(rows, { limit: 2, ...question }, signal)).entries.map(({ seq }) => seq);
  expect(await seqs({})).toEqual([2_101, 2_100]);
  expect(await seqs({ before: 1_001 })).toEqual([1_000, 999]);
  expect(await seqs({ action: "step.5", limit: 3 })).toEqual([600, 599, 598]);
  expect(await seqs({ actor: "ops" })).toEqual([2_101]);
  expect(await listEntries(rows, { limit: 2 }, signal)).toMatchObject({ nextBefore: 2_100 });
  expect(await listEntries(rows, { limit: 2, before: 2 }, signal)).not.toHaveProperty("nextBefore");
});
