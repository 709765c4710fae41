import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually, type FakeClock, fakeClock } from "svc/sdk/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { takeLock } from "./embed-lock.ts";
import { createEmbedSchedule, type EmbedScheduleOptions, jitterMs } from "./embed-schedule.ts";
import { createTestState, type TestState } from "./test-sidecar.ts";

let state: TestState;
let clock: FakeClock;
let runs: boolean[];
let warnings: string[];
let outcome: () => Promise<void>;
let lockPath: string;
beforeEach(() => {
  state = createTestState();
  clock = fakeClock();
  runs = [];
  warnings = [];
  outcome = async () => undefined;
  lockPath = join(state.stateDir, "sidecar", "embed.lock");
});
afterEach(() => state.dispose());

const minute = 60_000;

function schedule(over: Partial<EmbedScheduleOptions> = {}) {
  return createEmbedSchedule({
    agentId: "main",
    intervalMs: 60 * minute,
    hasSharedCollections: false,
    lockPath,
    clock,
    timers: clock,
    signal: new AbortController().signal,
    async embed(all) {
      runs.push(all);
      await outcome();
    },
    isModelChanged: () => false,
    onEmbedded: () => undefined,
    warn: (message) => void warnings.push(message),
    ...over,
  });
}

async function after(one: ReturnType<typeof schedule>, force = false): Promise<number> {
  one.afterUpdate({ force });
  await one.idle();
  return runs.length;
}

test("the first update is followed by a run, others when the interval has passed, forced ones always", async () => {
  const one = schedule();
  expect(await after(one)).toBe(1);
  await clock.advance(59 * minute);
  expect(await after(one)).toBe(1);
  expect(await after(one, true)).toBe(2);
  await clock.advance(60 * minute);
  expect(await after(one)).toBe(3);
});

test("interval 0 means the first and forced ones only; without one there are none at all", async () => {
  const zero = schedule({ intervalMs: 0 });
  expect(await after(zero)).toBe(1);
  await clock.advance(600 * minute);
  expect(await after(zero)).toBe(1);
  expect(await after(zero, true)).toBe(2);
  expect(await after(schedule({ intervalMs: undefined }), true)).toBe(2);
});

test("another model rebuilds all vectors, whatever the interval", async () => {
  let isChanged = false;
  const one = schedule({ isModelChanged: () => isChanged });
  await after(one);
  isChanged = true;
  await after(one);
  expect(runs).toEqual([false, true]);
});

test("a failure is tried again after a minute, doubling to an hour, and reported once", async () => {
  outcome = async () => {
    throw new Error("no models");
  };
  const one = schedule();
  await after(one);
  expect(await after(one)).toBe(1);
  const waits: number[] = [];
  for (let nth = 0; nth < 8; nth++) {
    const waitMs = clock.waiting[0] as number;
    waits.push(waitMs / minute);
    await clock.advance(waitMs);
    await one.idle();
  }
  expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
  expect([warnings.length, one.lastError]).toEqual([1, "no models"]);
});

test("runs of several agents follow each other", async () => {
  let running = 0;
  let most = 0;
  outcome = async () => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setImmediate(resolve));
    running--;
  };
  const all = ["a", "b", "c"].map((agentId) => schedule({ agentId }));
  await Promise.all(all.map((one) => after(one)));
  expect([runs.length, most]).toEqual([3, 1]);
});

test("an agent with shared folders begins at a time of its own", async () => {
  const one = schedule({ hasSharedCollections: true });
  expect(await after(one)).toBe(0);
  expect(clock.waiting).toEqual([jitterMs("main")]);
  await clock.advance(jitterMs("main"));
  await eventually(() => runs.length === 1);
  expect(jitterMs("ops")).not.toBe(jitterMs("main"));
});

describe("the lock of the host", () => {
  test("keeps a run away while another process has it", async () => {
    const release = await takeLock(lockPath);
    writeFileSync(lockPath, JSON.stringify({ pid: process.ppid, startTime: null }));
    await release?.();
    writeFileSync(lockPath, JSON.stringify({ pid: process.ppid, startTime: null }));
    const one = schedule();
    expect(await after(one)).toBe(0);
    writeFileSync(lockPath, JSON.stringify({ pid: 2 ** 30, startTime: null }));
    await clock.advance(30_000);
    await eventually(() => runs.length === 1);
    await one.idle();
    expect(existsSync(lockPath)).toBe(false);
  });

  test("names its owner, is held once, and is taken over from a dead process or a torn record", async () => {
    const release = await takeLock(lockPath);
    expect(JSON.parse(readFileSync(lockPath, "utf8"))).toMatchObject({ pid: process.pid });
    expect(await takeLock(lockPath)).toBeUndefined();
    await release?.();
    for (const left of ["", "{", JSON.stringify({ pid: 2 ** 30, startTime: "1" })]) {
      writeFileSync(lockPath, left);
      const taken = await takeLock(lockPath);
      expect(taken, left).toBeDefined();
      await taken?.();
    }
  });
});
