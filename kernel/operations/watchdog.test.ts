import { afterEach, describe, expect, test } from "vitest";
import { runAs } from "../hooks/running.ts";
import { startWatchdog, watchdogLimitsFrom } from "./watchdog.ts";
import { type Stall, watchdogLimits } from "./watchdog-shared.ts";
import { createWatchdogState } from "./watchdog-state.ts";

describe("the state of a main thread", () => {
  const times = { beatMs: 100, tickMs: 50 };
  const stalledTicks = (count: number) => {
    const state = createWatchdogState(watchdogLimits);
    const steps: string[] = [];
    for (let i = 0; i <= count; i++) {
      const step = state.step(i * 50, 1, times);
      if (step) steps.push(`${step} ${state.stalledMs()}`);
    }
    return { state, steps, at: count * 50 };
  };

  test.each([
    ["nothing at 200 ms less a tick", 5, []],
    ["who it is at 200 ms", 6, ["blame 200"]],
    ["a report at 2 s", 42, ["blame 200", "report 2000"]],
    ["that nobody is served at 10 s", 202, ["blame 200", "report 2000", "sick 10000"]],
    ["the end at 60 s, once", 1_300, ["blame 200", "report 2000", "sick 10000", "exit 60000"]],
  ])("asks for %s", (_, ticks, steps) => {
    expect(stalledTicks(ticks).steps).toEqual(steps);
  });

  test("says that it is over, and how long it was", () => {
    const { state, at } = stalledTicks(42);
    expect(state.step(at + 50, 2, times)).toBe("over");
    expect(state.stalledMs()).toBe(2_000);
    expect(state.step(at + 100, 2, times)).toBeUndefined();
  });

  test("takes a beat every 100 ms for health", () => {
    const state = createWatchdogState(watchdogLimits);
    for (let tick = 0; tick < 200; tick++) expect(state.step(tick * 50, Math.floor(tick / 2), times)).toBeUndefined();
  });

  test("is late in an idle process only once a beat of a second is missing", () => {
    const idle = { beatMs: 1_000, tickMs: 1_000 };
    const state = createWatchdogState(watchdogLimits);
    state.step(0, 1, idle);
    state.step(1_000, 1, idle);
    expect(state.isLate()).toBe(false);
    expect(state.step(2_000, 1, idle)).toBe("blame");
    expect([state.isLate(), state.stalledMs()]).toEqual([true, 1_000]);
    expect(state.step(2_050, 2, idle)).toBe("over");
    expect(state.isLate()).toBe(false);
  });

  test("does not take a process that stood still as a whole for a loop", () => {
    const state = createWatchdogState(watchdogLimits);
    state.step(0, 1, times);
    expect(state.step(8 * 3_600_000, 1, times)).toBeUndefined();
    expect(state.step(8 * 3_600_000 + 50, 2, times)).toBeUndefined();
  });
});

describe("the watching thread", () => {
  let stop: (() => void) | undefined;
  afterEach(() => stop?.());

  test("names the plugin whose code holds the loop up after an await, and where", async () => {
    const stalls: Stall[] = [];
    const stalled = new Promise<void>((resolve, reject) => {
      stop = startWatchdog({
        onStall(stall) {
          stalls.push(stall);
          if (stall.owner) resolve();
        },
        onError: reject,
      });
    });
    const spinForAWhile = () => {
      const until = performance.now() + 1_500;
      while (performance.now() < until);
    };
    await runAs("weather", "gateway.ready", async () => {
      // The thread takes a moment to start; until then nobody watches.
      while (!stalls.some((s) => s.owner)) {
        await new Promise((resolve) => setTimeout(resolve, 250));
        spinForAWhile();
        await new Promise((resolve) => setTimeout(resolve, 250));
      }
    });
    await stalled;

    const stall = stalls.find((s) => s.owner);
    expect(stall?.owner).toEqual({ plugin: "weather", what: "gateway.ready" });
    // The pause may fall into the clock that the loop asks.
    expect(stall?.stack.slice(0, 6)).toContainEqual(expect.stringMatching(/^spinForAWhile .*watchdog\.test\.ts/));
    expect(stall?.ms).toBeGreaterThanOrEqual(200);
  });
});

test("limits come from the environment in tests only", () => {
  expect(watchdogLimitsFrom({ SVC_TEST: "1", SVC_WATCHDOG_MS: "10,20,30,40" })).toEqual({
    blameMs: 10,
    reportMs: 20,
    sickMs: 30,
    exitMs: 40,
  });
  expect(watchdogLimitsFrom({ SVC_TEST: "1", SVC_WATCHDOG_MS: "10,x" })).toEqual({ blameMs: 10 });
  expect(watchdogLimitsFrom({ SVC_WATCHDOG_MS: "10,20,30,40" })).toEqual({});
});
