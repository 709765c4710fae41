import type { ModelDelta, SvcConfig } from "svc/sdk";
import { parseSharedConfig } from "svc/sdk/internal";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { silenceLimits } from "./silence.ts";
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

test.each([
  [200_000, "Here."],
  [301_000, "the model sent nothing for 300 s"],
])("with timeoutSeconds 300 a server that is silent for %i ms is waited for as long as that, with one request", async (silentMs, end) => {
  const providers = { lab: { baseUrl: "http://127.0.0.1:1", timeoutSeconds: 300 } };
  const limits = silenceLimits(parseSharedConfig({ models: { providers } } as never) as SvcConfig, { id: "lab" });
  let requests = 0;
  const turn = readTurn(
    async function* (): AsyncIterable<ModelDelta> {
      requests += 1;
      await after(silentMs);
      yield { type: "text", delta: "Here." };
      yield { type: "finish", reason: "stop" };
    },
    { signal: new AbortController().signal, ...limits, onText: () => undefined },
  ).then(
    ({ text }) => text,
    (error: Error) => error.message,
  );
  await vi.advanceTimersByTimeAsync(400_000);
  expect([await turn, requests]).toEqual([end, 1]);
});
