import { afterEach, expect, it, vi } from "vitest";
import { createInterrupt } from "./interrupt.ts";

const before = { SIGINT: process.listeners("SIGINT"), SIGTERM: process.listeners("SIGTERM") };
afterEach(() => {
  vi.useRealTimers();
  expect({ SIGINT: process.listeners("SIGINT"), SIGTERM: process.listeners("SIGTERM") }).toEqual(before);
});

function interrupt(patienceMs?: number) {
  const exits: number[] = [];
  return { exits, ...createInterrupt({ patienceMs }, (code) => exits.push(code)) };
}

it("the first signal aborts, and decides about the exit code", () => {
  const { signal, exitCode, exits, dispose } = interrupt();
  expect(exitCode(0)).toBe(0);
  process.emit("SIGINT", "SIGINT");
  expect(signal.aborted).toBe(true);
  expect(exitCode(0)).toBe(130);
  expect(exits).toEqual([]);
  dispose();
});

it("the second one ends the process with its own code", () => {
  const { exits, dispose } = interrupt();
  process.emit("SIGINT", "SIGINT");
  process.emit("SIGTERM", "SIGTERM");
  expect(exits).toEqual([143]);
  dispose();
});

it("patience ends it too, when there is a limit to it", () => {
  vi.useFakeTimers();
  const limited = interrupt(3_000);
  process.emit("SIGTERM", "SIGTERM");
  vi.advanceTimersByTime(2_999);
  expect(limited.exits).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(limited.exits).toEqual([143]);
  limited.dispose();
});
