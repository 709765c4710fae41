import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { HealthPart } from "../hooks.ts";
import { createHealth, type Health } from "./health.ts";

let health: Health | undefined;
afterEach(() => health?.dispose());

function setup(report: () => HealthPart[] = () => []) {
  const time = { now: 1_000_000 };
  const seen = { collected: 0, deep: [] as boolean[], changes: 0, faults: [] as string[] };
  const made = createHealth({
    async collect(deep) {
      seen.collected += 1;
      seen.deep.push(deep);
      return report();
    },
    now: () => time.now,
    base: () => ({ uptimeMs: time.now, phase: "ready" }),
    onChange: () => {
      seen.changes += 1;
    },
    onFault: (error) => seen.faults.push(String(error)),
  });
  health = made;
  return { health: made, time, seen };
}

describe("the snapshot is collected", () => {
  test("once for many who ask at the same time, and kept for a minute", async () => {
    const { health, time, seen } = setup();
    const [a, b] = await Promise.all([health.text(), health.text()]);
    expect(a).toBe(b);
    time.now += 60_000;
    await health.text();
    expect(seen.collected).toBe(1);
    time.now += 1;
    await health.text();
    expect(seen.collected).toBe(2);
  });

  test("anew when somebody says that it is stale, but not more than once a second", async () => {
    const { health, time, seen } = setup();
    await health.text();
    health.invalidate();
    time.now += 1_000;
    await health.text();
    expect(seen.collected).toBe(1);
    time.now += 1;
    await health.text();
    expect(seen.collected).toBe(2);
  });

  test("anew and in depth for a probe", async () => {
    const { health, seen } = setup();
    await health.text();
    await health.text({ probe: true });
    expect(seen.deep).toEqual([false, true]);
  });
});

test("it is JSON with the parts, the figures of the process and what fails", async () => {
  const { health } = setup(() => [
    { part: "store", ok: true, critical: true, value: { queued: 0 } },
    { part: "disk", ok: false, critical: true, message: "full" },
  ]);
  const value = JSON.parse(await health.text());
  expect(value).toMatchObject({
    ok: false,
    phase: "ready",
    store: { queued: 0 },
    problems: { disk: "full" },
    eventLoop: { delayP99Ms: expect.any(Number), utilization: expect.any(Number) },
    memory: { rssBytes: expect.any(Number), heapUsedBytes: expect.any(Number) },
  });
  expect(await health.value()).toMatchObject({ ok: false, store: { queued: 0 }, memory: expect.anything() });
  expect(health.failing()).toEqual(["disk"]);
});

test("its version counts changes, and time alone is none", async () => {
  let queued = 0;
  const { health, time, seen } = setup(() => [{ part: "store", ok: true, value: { queued } }]);
  await health.text({ probe: true });
  const first = health.version();
  time.now += 5_000;
  await health.text({ probe: true });
  expect([health.version(), seen.changes]).toEqual([first, 1]);

  queued = 1;
  await health.text({ probe: true });
  expect([health.version(), seen.changes]).toEqual([first + 1, 2]);
});

describe("a refresh", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test("tells of a change without being asked, once for many, a second after the last collection", async () => {
    let n = 0;
    const { health, seen } = setup(() => [{ part: "a", ok: true, value: n }]);
    await health.text();
    n = 1;
    health.refresh();
    health.refresh();
    await vi.advanceTimersByTimeAsync(999);
    expect(seen).toMatchObject({ collected: 1, changes: 1 });
    await vi.advanceTimersByTimeAsync(1);
    expect(seen).toMatchObject({ collected: 2, changes: 2 });
  });

  test("that fails is reported, and the next one is tried", async () => {
    const { health, seen } = setup(() => {
      throw new Error("no");
    });
    health.refresh();
    await vi.advanceTimersByTimeAsync(0);
    health.refresh();
    await vi.advanceTimersByTimeAsync(0);
    expect(seen.faults).toEqual(["Error: no", "Error: no"]);
  });

  test("is off after the end", async () => {
    const { health, seen } = setup();
    health.refresh();
    health.dispose();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(seen.collected).toBe(0);
  });
});
