import type { MemorySearchResult } from "svc/sdk";
import { expect, test } from "vitest";
import { askWithSpare } from "./ask-with-spare.ts";

const result = (provider: string): MemorySearchResult => ({
  ...{ results: [], provider, model: "m", fallback: null },
  ...{ citations: "auto", mode: "fts-only" },
});

function spareOf(limitMs: number) {
  let begun = 0;
  const until = performance.now() + limitMs;
  return {
    begin: async () => {
      begun += 1;
      return result("builtin");
    },
    leftMs: () => Math.max(1, until - performance.now()),
    begun: () => begun,
  };
}

test("the first answer counts, and nothing else is looked for", async () => {
  const spare = spareOf(5_000);
  expect(await askWithSpare({ ask: async () => result("attic"), spare })).toEqual({ result: result("attic") });
  expect(spare.begun()).toBe(0);
});

test("an answer that fails is replaced at once", async () => {
  const spare = spareOf(60_000);
  const answer = await askWithSpare({ ask: () => Promise.reject(new Error("broken")), spare });
  expect(answer).toMatchObject({ failure: "broken" });
  expect("spare" in answer && (await answer.spare)).toEqual(result("builtin"));
});

test("one that does not come is replaced at the limit by an answer that was looked for before, and is told to end", async () => {
  const spare = spareOf(200);
  let stopped = false;
  const ask = (signal: AbortSignal) =>
    new Promise<MemorySearchResult>(() => {
      signal.addEventListener("abort", () => {
        stopped = true;
      });
    });
  expect(await askWithSpare({ ask, spare })).toMatchObject({ failure: expect.stringContaining("did not answer within") });
  expect([spare.begun(), stopped]).toEqual([1, true]);
});

test("who asks may give up", async () => {
  const controller = new AbortController();
  const asked = askWithSpare({ ask: () => new Promise(() => undefined), spare: spareOf(60_000), signal: controller.signal });
  controller.abort(new Error("gone"));
  await expect(asked).rejects.toThrow("gone");
});
