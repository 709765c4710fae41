import type { ModelDelta } from "svc/sdk";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { readTurn } from "./turn.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const after = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test("a model that is silent is told of every 15 s, until it goes on", async () => {
  const silences: number[] = [];
  const turn = readTurn(
    async function* (): AsyncIterable<ModelDelta> {
      await after(46_000);
      for (let i = 0; i < 5; i++) {
        yield { type: "text", delta: "." };
        await after(10_000);
      }
      await after(20_000);
      yield { type: "finish", reason: "stop" };
    },
    { signal: new AbortController().signal, idleMs: 120_000, onText: () => undefined, onSilence: (ms) => silences.push(ms) },
  );
  await vi.advanceTimersByTimeAsync(200_000);

  expect((await turn).text).toBe(".....");
  expect(silences).toEqual([15_000, 30_000, 45_000, 15_000]);
  expect(vi.getTimerCount()).toBe(0);
});
