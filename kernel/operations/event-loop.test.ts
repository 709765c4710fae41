import { afterEach, expect, test, vi } from "vitest";
import { createEventLoopMonitor, isDegraded } from "./event-loop.ts";

afterEach(() => void vi.useRealTimers());

test.each([
  [{ delayP99Ms: 25, utilization: 0.1 }, false],
  [{ delayP99Ms: 199.9, utilization: 0.949 }, false],
  [{ delayP99Ms: 200, utilization: 0.1 }, true],
  [{ delayP99Ms: 25, utilization: 0.95 }, true],
])("the event loop with %j is degraded: %s", (figures, degraded) => {
  expect(isDegraded(figures)).toBe(degraded);
});

test("a window that has just begun says what the one before it said", () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  const monitor = createEventLoopMonitor();
  try {
    const first = monitor.figures();
    expect(first).toEqual({
      degraded: isDegraded(first),
      delayP99Ms: expect.any(Number),
      delayMaxMs: expect.any(Number),
      utilization: expect.any(Number),
    });
    vi.advanceTimersByTime(59_999);
    const { degraded } = monitor.figures();
    vi.advanceTimersByTime(1);
    expect(monitor.figures().degraded).toBe(degraded);
  } finally {
    monitor.dispose();
  }
});
