import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { OpenedModel } from "./messages.ts";
import { ModelLife } from "./model-life.ts";
import { type CallOptions, ProcessFailure } from "./runtime-process.ts";

const IDLE_MS = 600_000;
const LOAD_MS = 300_000;
const opened: OpenedModel = { dims: 1, maxTokens: 99 };

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

/** `Promise.withResolvers` of newer versions of Node. */
function withResolvers<T>() {
  let settle: { resolve(value: T): void; reject(error: Error): void } | undefined;
  const promise = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return { promise, resolve: (value: T) => settle?.resolve(value), reject: (error: Error) => settle?.reject(error) };
}

/** A model that is not on this machine until the test says so. */
function stage() {
  const seen = { ended: 0 };
  const opening = withResolvers<OpenedModel>();
  const begun = withResolvers<NonNullable<CallOptions["onProgress"]>>();
  const life = new ModelLife({
    name: "some.gguf",
    request: { model: "hf:a/b/some.gguf", maxThreads: 1, use: { kind: "chat", contextWindow: 99, sequences: 2 } },
    loadMs: LOAD_MS,
    library: async () => "file:///library.js",
    model: () => ({
      isUsable: true,
      async open({ download }, options) {
        if (!download) throw new ProcessFailure("not-ready", "it is not here");
        begun.resolve(options.onProgress ?? (() => undefined));
        return opening.promise;
      },
      call: () => ({ result: Promise.reject(new Error("not asked for")), settled: Promise.resolve() }),
      end: async () => void seen.ended++,
    }),
    log: () => undefined,
    idleMs: IDLE_MS,
  });
  return { life, seen, begun: begun.promise, opening };
}

test("a model that is being fetched is not unloaded, however long nobody waits for it; its rest begins when it is open", async () => {
  const { life, seen, begun, opening } = stage();
  await expect(life.ready(false)).rejects.toMatchObject({ fault: "not-ready" });
  const fetched = life.ready(true);
  life.rest();
  await begun;
  life.rest();
  vi.advanceTimersByTime(10 * IDLE_MS);
  expect(seen.ended).toBe(0);

  opening.resolve(opened);
  await fetched;
  vi.advanceTimersByTime(IDLE_MS - 1);
  expect(seen.ended).toBe(0);
  vi.advanceTimersByTime(1);
  expect(seen.ended).toBe(1);
});

test("who asks meanwhile keeps it from resting", async () => {
  const { life, seen, begun, opening } = stage();
  const first = life.ready(true);
  await begun;
  life.rest();
  const second = life.ready(true);
  opening.resolve(opened);
  await Promise.all([first, second]);
  vi.advanceTimersByTime(10 * IDLE_MS);
  expect(seen.ended).toBe(0);
});

test("a download has a limit of its own, and the loading after it has that of a loading again", async () => {
  const { life, begun, opening } = stage();
  const fetched = life.ready(true);
  const progress = await begun;
  expect(progress({ doneBytes: 1, totalBytes: 4 })).toEqual({ what: "the download of the model", limitMs: 120_000 });
  expect(life.notReadyText()).toContain("25 %");
  expect(progress({ loading: true })).toBeUndefined();
  expect(life.notReadyText()).toBe("is being loaded");
  opening.resolve(opened);
  await fetched;
});

test("a process that dies over the loading is a fault of the model, one that dies over the download is not", async () => {
  for (const [isLoading, fault] of [
    [true, "model"],
    [false, "crashed"],
  ] as const) {
    const { life, begun, opening } = stage();
    const fetched = life.ready(true);
    const progress = await begun;
    progress({ doneBytes: 1, totalBytes: 4 });
    if (isLoading) progress({ loading: true });
    opening.reject(new ProcessFailure("crashed", "the process of the models ended (signal SIGKILL)"));
    await expect(fetched).rejects.toMatchObject({ fault });
  }
});
