import type { Logger } from "svc/sdk";
import { fakeClock } from "svc/sdk/testing";
import { expect, test } from "vitest";
import type { Job } from "./job.ts";
import { planNext } from "./outcome.ts";
import { Scheduler } from "./scheduler.ts";

const start = 1_767_225_600_000;
const HOUR = 3_600_000;

function jobOf(id: string, at: number, more: Partial<Job> = {}): Job {
  return {
    id,
    name: id,
    enabled: true,
    schedule: { kind: "every", everyMs: HOUR, anchorMs: start },
    sessionTarget: "isolated",
    wakeMode: "now",
    payload: { kind: "agentTurn", message: "x" },
    state: { consecutiveErrors: 0, nextRunAtMs: at },
    createdAtMs: start,
    updatedAtMs: start,
    configRevision: 1,
    log: { first: 0, next: 0, bytes: 0 },
    ...more,
  };
}

/** A scheduler whose jobs run for a second, on a clock whose wall time can be put forward and back. */
function setup() {
  const clock = fakeClock(start);
  let shift = 0;
  const fired: Array<[id: string, at: number]> = [];
  const warnings: string[] = [];
  let [running, most] = [0, 0];
  const nothing = () => undefined;
  const logger = { trace: nothing, debug: nothing, info: nothing, error: nothing, warn: (text: string) => void warnings.push(text) };
  const turnClock = (ms: number) => {
    shift += ms;
  };
  const now = () => clock.now() + shift;
  const next = (job: Job): Job => ({ ...job, state: { ...job.state, nextRunAtMs: planNext(job, now()) ?? now() } });
  const scheduler: Scheduler = new Scheduler({
    clock: { now, monotonic: () => clock.monotonic() },
    timers: clock,
    logger: logger as unknown as Logger,
    maxRuns: () => 2,
    async fire(id) {
      fired.push([id, now()]);
      running += 1;
      most = Math.max(most, running);
      await new Promise<void>((resolve) => void clock.setTimeout(resolve, 1_000));
      running -= 1;
      const job = scheduler.get(id);
      return job && next(job);
    },
    replan: async (id) => {
      const job = scheduler.get(id);
      return job && next(job);
    },
  });
  return { clock, scheduler, fired, warnings, most: () => most, turnClock };
}

test("a hundred jobs of one time run two at a time, each once, the one that waits longest first", async () => {
  const { clock, scheduler, fired, most } = setup();
  for (let n = 0; n < 100; n += 1) scheduler.set(jobOf(`j${n}`, start + 1_000 - n));
  scheduler.start();
  await clock.advance(120_000);
  expect(fired.map(([id]) => id)).toEqual(Array.from({ length: 100 }, (_, n) => `j${99 - n}`));
  expect(most()).toBe(2);
});

test("a time further away than a timer can hold is waited for", async () => {
  const { clock, scheduler, fired } = setup();
  const far = start + 30 * 24 * HOUR;
  scheduler.set(jobOf("far", far, { schedule: { kind: "at", at: new Date(far).toISOString() } }));
  scheduler.start();
  expect(Math.max(...clock.waiting)).toBeLessThanOrEqual(60_000);
  await clock.advance(30 * 24 * HOUR - 1);
  expect(fired).toEqual([]);
  await clock.advance(1);
  expect(fired).toEqual([["far", far]]);
});

test("a clock that jumps back has the times worked out anew, and one that jumps forward makes them due once", async () => {
  const { clock, scheduler, fired, warnings, turnClock } = setup();
  scheduler.set(jobOf("hourly", start + HOUR));
  scheduler.start();
  turnClock(-24 * HOUR);
  await clock.advance(HOUR);
  expect(fired).toEqual([["hourly", start - 23 * HOUR]]);
  expect(warnings).toEqual([expect.stringContaining("the clock jumped by -86400 s")]);
  await clock.advance(2_000);
  turnClock(7.5 * HOUR);
  await clock.advance(60_000);
  expect(fired).toHaveLength(2);
});
