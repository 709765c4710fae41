import { fakeClock } from "svc/sdk/testing";
import { describe, expect, test } from "vitest";
import { createSchedule, type TickResult } from "./schedule.ts";
import type { HeartbeatSettings } from "./settings.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

function setup({ random = 0.5, tick }: { random?: number; tick?: (isRetry: boolean) => TickResult } = {}) {
  const clock = fakeClock();
  const wall = { stepMs: 0 };
  const anchors = new Map<string, number>();
  const ticks: Array<[string, number, boolean]> = [];
  const schedule = createSchedule({
    clock: { now: () => clock.now() + wall.stepMs, monotonic: clock.monotonic },
    timers: clock,
    random: () => random,
    async tick(agentId, isRetry) {
      ticks.push([agentId, clock.monotonic(), isRetry]);
      return tick?.(isRetry) ?? "done";
    },
    anchor: { get: (id) => anchors.get(id), set: (id, at) => void anchors.set(id, at) },
  });
  const arm = (everyMs: Record<string, number>) =>
    schedule.update(
      new Map(Object.entries(everyMs).map(([id, ms]) => [id, { enabled: ms > 0, everyMs: ms } as HeartbeatSettings] as const)),
    );
  return { clock, wall, anchors, ticks, schedule, arm };
}

test.each([
  [0, 0.9],
  [0.5, 1],
  [0.999_999, 1.1],
])("the first tick of a fresh agent comes within a tenth of the interval, the others an interval later (%f)", async (random, share) => {
  const { clock, ticks, arm } = setup({ random });
  arm({ main: HOUR });
  await clock.advance(2.5 * HOUR);
  const first = ticks[0]?.[1] ?? 0;
  expect(Math.abs(first - share * HOUR)).toBeLessThan(10);
  expect(ticks.map(([, at]) => at)).toEqual([first, first + HOUR]);
});

test("an interval that is too long for one timer is waited for in pieces", async () => {
  const { clock, ticks, arm } = setup();
  arm({ main: 60 * DAY });
  expect(clock.waiting[0]).toBeLessThan(2 ** 31);
  await clock.advance(60 * DAY - 1);
  expect(ticks).toEqual([]);
  await clock.advance(1);
  expect(ticks).toHaveLength(1);
});

test("a busy tick is tried again every 30 s until the next one is due", async () => {
  const { clock, ticks, arm } = setup({ tick: () => "busy" });
  arm({ main: 120_000 });
  await clock.advance(240_000 + 1);
  expect(ticks.map(([, at, isRetry]) => [at, isRetry])).toEqual([
    [120_000, false],
    [150_000, true],
    [180_000, true],
    [210_000, true],
    [240_000, false],
  ]);
});

describe("a change of the config", () => {
  test("arms what came, disarms what went or was switched off, and leaves the rest alone", async () => {
    const { clock, ticks, schedule, arm } = setup();
    arm({ a: HOUR, b: HOUR, c: HOUR });
    await clock.advance(1.5 * HOUR);
    ticks.length = 0;
    const [a, c] = [schedule.nextAt("a"), schedule.nextAt("c")];
    arm({ a: HOUR, b: 0, d: HOUR });
    expect([schedule.nextAt("a"), schedule.nextAt("b"), schedule.nextAt("c")]).toEqual([a, undefined, undefined]);
    expect(schedule.nextAt("d")).toBe(clock.now() + HOUR);
    expect(c).toBeDefined();
    await clock.advance(HOUR);
    expect(ticks.map(([id]) => id)).toEqual(["a", "d"]);
  });

  test("counts a new interval from the last heartbeat", () => {
    const { clock, schedule, anchors, arm } = setup();
    arm({ main: HOUR });
    anchors.set("main", clock.now() - 600_000);
    arm({ main: HOUR / 2 });
    expect(schedule.nextAt("main")).toBe(clock.now() + HOUR / 2 - 600_000);
  });
});

describe("after the process stood still", () => {
  test("with its monotonic clock, what fell due meanwhile happens once", async () => {
    const { clock, wall, ticks, schedule, arm } = setup();
    arm({ main: HOUR });
    wall.stepMs = 8 * HOUR;
    schedule.resumed();
    await clock.advance(0);
    expect(ticks).toHaveLength(1);
    await clock.advance(HOUR - 1);
    expect(ticks).toHaveLength(1);
  });

  test("what is not due yet keeps its time", () => {
    const { clock, schedule, arm } = setup();
    arm({ main: HOUR });
    const before = schedule.nextAt("main");
    schedule.resumed();
    expect(schedule.nextAt("main")).toBe(before);
    expect(clock.waiting).toEqual([HOUR]);
  });

  test("a wall clock that was set back puts nothing off", async () => {
    const { clock, wall, ticks, schedule, arm } = setup();
    arm({ main: HOUR });
    wall.stepMs = -DAY;
    schedule.resumed();
    await clock.advance(HOUR);
    expect(ticks).toHaveLength(1);
  });
});

test("an anchor in the future, left by a clock that was wrong, is not believed", () => {
  const { clock, anchors, schedule, arm } = setup();
  anchors.set("main", clock.now() + DAY);
  arm({ main: HOUR });
  expect(schedule.nextAt("main")).toBe(clock.now() + HOUR);
});

test("nothing ticks after the stop", async () => {
  const { clock, ticks, schedule, arm } = setup({ tick: () => "busy" });
  arm({ main: 60_000 });
  await clock.advance(60_000);
  schedule.stop();
  expect(clock.waiting).toEqual([]);
  await clock.advance(HOUR);
  expect(ticks).toHaveLength(1);
});
