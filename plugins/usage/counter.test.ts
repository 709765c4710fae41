import type { StoreOp } from "svc/sdk";
import { beforeEach, expect, test } from "vitest";
import { UsageCounter } from "./counter.ts";

const DAY_MS = 86_400_000;
let rows: Map<string, { value: unknown; version: number }>;
let now: number;
let refusals: number;
let warnings: string[];
let onList: (prefix: string) => Promise<void>;

beforeEach(() => {
  [rows, now, refusals, warnings] = [new Map(), Date.UTC(2026, 5, 1, 12), 0, []];
  onList = async () => undefined;
});

function open(): UsageCounter {
  const store = {
    kv: {
      read: async (_: string, key: string) => rows.get(key),
      async list(_: string, prefix: string) {
        await onList(prefix);
        return [...rows].filter(([key]) => key.startsWith(prefix)).map(([key, { value }]) => ({ key, value }));
      },
    },
    async commit(ops: StoreOp[]) {
      if (refusals-- > 0) throw new Error("the disk is full");
      for (const op of ops) {
        if (op.op === "kv.put") rows.set(op.key, { value: op.value, version: (rows.get(op.key)?.version ?? 0) + 1 });
        if (op.op === "kv.delete") rows.delete(op.key);
      }
      return [];
    },
  };
  const timers = { setTimeout: () => ({ dispose: () => undefined }) };
  return new UsageCounter({
    store: () => store,
    timers,
    clock: { now: () => now },
    logger: { warn: (text: string) => warnings.push(text) },
  } as never);
}
const ran = (input: number) => ({ agentId: "main", model: "a/b", status: "ok" as const, usage: { input } });
const inputs = async (counter: UsageCounter, days = 400) => (await counter.rows(days)).map(({ totals }) => totals.input);

test("counts of several processes are added to what is stored", async () => {
  const [first, second] = [open(), open()];
  first.add(ran(1));
  await first.flushed();
  second.add(ran(2));
  second.add(ran(4));
  expect(await inputs(second)).toEqual([7]);
});

test("what cannot be stored is kept for the next time", async () => {
  const counter = open();
  refusals = 1;
  counter.add(ran(1));
  await counter.flushed();
  expect([rows.size, warnings.length]).toEqual([0, 1]);
  counter.add(ran(2));
  expect(await inputs(counter)).toEqual([3]);
});

test("days beyond four hundred are forgotten", async () => {
  const counter = open();
  counter.add(ran(1));
  await counter.flushed();
  now += 400 * DAY_MS;
  counter.add(ran(2));
  await counter.flushed();
  expect(rows.size).toBe(2);
  now += DAY_MS;
  counter.add(ran(3));
  expect(await inputs(counter)).toEqual([3, 2]);
  expect(rows.size).toBe(2);
});

test("a year is read a few days at a time, each day once", async () => {
  const counter = open();
  await counter.flushed();
  const [listed, together] = [new Set<string>(), { now: 0, most: 0 }];
  const days: string[] = [];
  onList = async (prefix) => {
    days.push(prefix);
    listed.add(prefix);
    together.now += 1;
    together.most = Math.max(together.most, together.now);
    await null;
    together.now -= 1;
  };
  await counter.rows(400);
  expect([listed.size, days.length, together.most]).toEqual([400, 400, 8]);
});
