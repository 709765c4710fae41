import type { MemoryBackend } from "svc/sdk";
import { type FakeClock, fakeClock } from "svc/sdk/testing";
import { beforeEach, expect, test } from "vitest";
import { type BackendSwitch, createBackendSwitch } from "./backend-switch.ts";

let clock: FakeClock;
let logged: string[];
let changes: number;
let backend: MemoryBackend | undefined;
let starts: number;
let outcome: () => Promise<void>;
let choice: BackendSwitch;
beforeEach(() => {
  clock = fakeClock();
  logged = [];
  changes = 0;
  starts = 0;
  outcome = async () => undefined;
  const nothing = async () => undefined as never;
  backend = {
    id: "attic",
    ...{ search: nothing, get: nothing, status: nothing, close: nothing },
    async sync(_agentId, { reason } = {}) {
      expect(reason).toBe("start");
      starts += 1;
      await outcome();
    },
  };
  const logger = {
    debug: () => undefined,
    info: (text: string) => void logged.push(`info ${text}`),
    warn: (text: string) => void logged.push(`warn ${text}`),
  };
  const backends = { get: () => backend && { id: "attic", value: backend, owner: "attic" }, ready: async () => undefined };
  choice = createBackendSwitch(
    { logger, timers: clock, backends },
    { agentId: "main", backendId: "attic", onChange: () => void changes++ },
  );
});

const minute = 60_000;

test("a backend is asked until a search fails, and again after a minute", async () => {
  await choice.start();
  expect(choice.current()).toBe(backend);
  choice.failed("it hangs");
  expect([choice.current(), choice.fallback(), changes]).toEqual([undefined, { from: "attic", reason: "it hangs" }, 1]);
  await clock.advance(minute - 1);
  expect(choice.current()).toBeUndefined();
  await clock.advance(1);
  expect([choice.current(), choice.fallback(), changes]).toEqual([backend, undefined, 2]);
  expect(logged).toEqual([
    'warn the memory backend "attic" of agent "main" gives no answer, so the builtin engine searches: it hangs',
    'info the memory backend "attic" of agent "main" is asked again',
  ]);
});

test("while it keeps failing the pause doubles up to 15 minutes, and nothing more is warned of", async () => {
  outcome = async () => {
    throw new Error("still broken");
  };
  await choice.start();
  const waits: number[] = [];
  for (let nth = 0; nth < 7; nth++) {
    waits.push((clock.waiting[0] as number) / minute);
    await clock.advance(clock.waiting[0] as number);
  }
  expect(waits).toEqual([1, 2, 4, 8, 15, 15, 15]);
  expect(logged.filter((line) => line.startsWith("warn"))).toHaveLength(1);
});

test("one that starts and fails at each search waits longer each time, and a search that worked ends that", async () => {
  for (const wanted of [1, 2, 4]) {
    choice.failed("garbage");
    expect(clock.waiting).toEqual([wanted * minute]);
    await clock.advance(wanted * minute);
    expect(choice.current()).toBe(backend);
  }
  choice.worked();
  choice.failed("garbage");
  expect(clock.waiting).toEqual([minute]);
});

test("one that no plugin offers is a fallback, and is asked when it comes", async () => {
  const offered = backend;
  backend = undefined;
  expect(choice.fallback()?.reason).toContain('no plugin that runs offers a memory backend "attic"');
  await choice.start();
  expect(choice.current()).toBeUndefined();
  backend = offered;
  await choice.start();
  expect([choice.current(), starts]).toEqual([offered, 1]);
});

test("one that is never ready is given up", async () => {
  choice.dispose();
  choice.failed("late news");
  expect([choice.current(), clock.waiting]).toEqual([backend, []]);
});
