import type { MemoryProgress } from "svc/sdk";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createProgressEvents } from "./open-agent.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const write = (done: number): MemoryProgress => ({ phase: "write", done, total: 100 });

test("at most ten a second are sent, the first at once, always the newest", () => {
  const sent: MemoryProgress[] = [];
  const events = createProgressEvents((progress) => sent.push(progress));
  for (let i = 0; i < 100; i++) {
    events.push(write(i));
    vi.advanceTimersByTime(10);
  }
  expect(sent.length).toBeLessThanOrEqual(10);
  expect(sent[0]).toEqual(write(0));
  expect(sent.at(-1)?.done).toBeGreaterThan(80);
});

test("the end of a sync is never lost to the next one", () => {
  const sent: string[] = [];
  const events = createProgressEvents((progress) => sent.push(progress.phase));
  for (const phase of ["scan", "write", "done", "scan", "error", "scan"] as const) events.push({ phase, done: 0, total: 0 });
  vi.advanceTimersByTime(1_000);
  expect(sent).toEqual(["scan", "done", "error", "scan"]);
});

test("nothing is sent after its end", () => {
  const sent: MemoryProgress[] = [];
  const events = createProgressEvents((progress) => sent.push(progress));
  events.push(write(1));
  events.push(write(2));
  void events.dispose();
  events.push(write(3));
  vi.advanceTimersByTime(1_000);
  expect(sent).toEqual([write(1)]);
});
