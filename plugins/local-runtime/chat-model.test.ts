import type { LocalChatPiece } from "svc/sdk";
import { expect, test } from "vitest";
import { createChatModel } from "./chat-model.ts";
import type { OpenRequest } from "./messages.ts";
import type { ModelHandle } from "./process-owner.ts";
import { type Answer, type CallOptions, ProcessFailure } from "./runtime-process.ts";

const finish: LocalChatPiece = { type: "finish", reason: "stop", calls: [], usage: { prompt: 1, cached: 0, output: 1, thought: 0 } };

/** A place whose calls the test answers; `open` is the test's own. */
function stage(
  open: (request: Omit<OpenRequest, "key">, options: CallOptions) => Promise<{ dims: number; maxTokens: number }> = async () => ({
    dims: 1,
    maxTokens: 99,
  }),
) {
  const calls: Array<{ options: CallOptions; resolve(answer: Answer): void; reject(error: Error): void; settle(): void }> = [];
  const seen = { opened: 0, ended: 0 };
  const hosts: Array<{ isUsable: boolean }> = [];
  const handle = (): ModelHandle => {
    const host = { isUsable: true };
    hosts.push(host);
    return {
      get isUsable() {
        return host.isUsable;
      },
      open(request, options) {
        seen.opened++;
        return open(request, options);
      },
      call(_make, options) {
        let settle: () => void = () => undefined;
        const settled = new Promise<void>((resolve) => {
          settle = resolve;
        });
        const result = new Promise<Answer>((resolve, reject) => {
          options.signal?.addEventListener("abort", () => reject(options.signal?.reason));
          calls.push({ options, resolve, reject, settle });
        });
        return { result, settled };
      },
      end: async () => void seen.ended++,
    };
  };
  const model = createChatModel({
    name: "some.gguf",
    request: { model: "/some.gguf", maxThreads: 1, use: { kind: "chat", contextWindow: 99, sequences: 2 } },
    loadMs: 1_000,
    library: async () => "file:///library.js",
    model: handle,
    log: () => undefined,
    idleMs: 1,
  });
  const ask = async (signal = new AbortController().signal): Promise<LocalChatPiece[]> => {
    const pieces: LocalChatPiece[] = [];
    for await (const piece of model.stream({ history: [], sampling: {} }, { signal })) pieces.push(piece);
    return pieces;
  };
  /** The call with this number, once it was made. */
  const call = (index: number) => expect.poll(() => calls.length, { interval: 1 }).toBeGreaterThan(index);
  const answer = async (index: number) => {
    await call(index);
    calls[index]?.options.onProgress?.({ piece: finish });
    calls[index]?.resolve({ finished: true });
    calls[index]?.settle();
  };
  /** The process ends, and with it the calls with these numbers. */
  const crash = (...indexes: number[]) => {
    for (const host of hosts) host.isUsable = false;
    for (const index of indexes) {
      calls[index]?.reject(new ProcessFailure("crashed", "the process ended (signal SIGSEGV)"));
      calls[index]?.settle();
    }
  };
  return { model, ask, answer, call, calls, crash, seen };
}

test("two requests are answered at a time, the third when one of them has ended", async () => {
  const { ask, answer, call, calls } = stage();
  const answers = [ask(), ask(), ask()];
  await call(1);
  expect(calls).toHaveLength(2);
  await answer(1);
  await answer(2);
  expect(await Promise.all(answers.slice(1))).toEqual([[finish], [finish]]);
  await answer(0);
  expect(await answers[0]).toEqual([finish]);
});

test("an abort frees the caller at once and the place when the process has let go", async () => {
  const { ask, answer, call, calls } = stage();
  const [stops, more] = [[new AbortController(), new AbortController()], new AbortController()];
  const aborted = stops.map(({ signal }) => ask(signal).catch((error: Error) => error));
  await call(1);
  for (const stop of stops) stop.abort();
  for (const error of await Promise.all(aborted)) expect(error).toMatchObject({ name: "AbortError" });

  const waiting = ask().catch((error: Error) => error);
  const leaver = ask(more.signal).catch((error: Error) => error);
  await new Promise((resolve) => setImmediate(resolve));
  expect(calls).toHaveLength(2);
  more.abort();
  expect(await leaver).toMatchObject({ name: "AbortError" });
  calls[0]?.settle();
  await answer(2);
  expect(await waiting).toEqual([finish]);
});

test("nothing that has come is given out after an abort", async () => {
  const { model, call, calls } = stage();
  const stop = new AbortController();
  const pieces = model.stream({ history: [], sampling: {} }, { signal: stop.signal })[Symbol.asyncIterator]();
  const first = pieces.next();
  await call(0);
  for (const text of ["one", "two"]) calls[0]?.options.onProgress?.({ piece: { type: "text", text } });
  expect(await first).toMatchObject({ value: { text: "one" } });
  stop.abort();
  await expect(pieces.next()).rejects.toMatchObject({ name: "AbortError" });
});

test("a model that nobody uses is unloaded, and loaded again for the next request", async () => {
  const { ask, answer, seen } = stage();
  const first = ask();
  await answer(0);
  await first;
  await expect.poll(() => seen, { interval: 1 }).toEqual({ opened: 1, ended: 1 });
  const second = ask();
  await answer(1);
  await second;
  expect(seen.opened).toBe(2);
});

test("a model that is not here is fetched by the first request, which is refused like those that come meanwhile", async () => {
  let arrived: () => void = () => undefined;
  let isHere = false;
  const { ask, answer } = stage(async ({ download }, { onProgress }) => {
    if (!isHere && !download) throw new ProcessFailure("not-ready", "it is not here");
    if (!isHere) {
      onProgress?.({ doneBytes: 250_000_000, totalBytes: 1_000_000_000 });
      await new Promise<void>((resolve) => {
        arrived = resolve;
      });
    }
    return { dims: 1, maxTokens: 99 };
  });
  await expect(ask()).rejects.toMatchObject({ fault: "overloaded", message: expect.stringContaining("its download begins now") });
  await expect(ask()).rejects.toMatchObject({
    message: "local: the model some.gguf is being downloaded (25 % of 1000 MB); try again later",
  });
  isHere = true;
  arrived();
  await new Promise((resolve) => setImmediate(resolve));
  const there = ask();
  await answer(0);
  expect(await there).toEqual([finish]);
});

test.each([
  ["model", "model_not_found"],
  ["too-long", "context_overflow"],
  ["invalid-request", "invalid_request"],
  ["timeout", "timeout"],
  ["ended", "overloaded"],
] as const)("a call that failed with %s is %s", async (fault, expected) => {
  const { ask, call, calls } = stage();
  const failed = ask().catch((error: Error) => error);
  await call(0);
  calls[0]?.reject(new ProcessFailure(fault, "why"));
  calls[0]?.settle();
  expect(await failed).toMatchObject({ name: "ModelError", fault: expected, message: "local: some.gguf: why" });
});

test("answers that the end of the process cut off may be asked for again once, until one comes to its end", async () => {
  const { ask, answer, call, crash } = stage();
  const failed = () => ask().catch((error: Error) => error);
  const beside = [failed(), failed()];
  await call(1);
  crash(0, 1);
  for (const error of await Promise.all(beside)) expect(error).toMatchObject({ fault: "overloaded" });
  const again = failed();
  await call(2);
  crash(2);
  expect(await again).toMatchObject({ fault: "model_not_found", message: expect.stringContaining("for the second time in a row") });

  const whole = ask();
  await answer(3);
  expect(await whole).toEqual([finish]);
  const later = failed();
  await call(4);
  crash(4);
  expect(await later).toMatchObject({ fault: "overloaded" });
});

test("closing ends what is under way and refuses what comes", async () => {
  const { model, ask, call } = stage();
  const under = ask().catch((error: Error) => error);
  await call(0);
  await model.close();
  expect(await under).toMatchObject({ fault: "overloaded", message: "local: the model was closed" });
  await expect(ask()).rejects.toMatchObject({ message: "local: the model was closed" });
  expect(model.isClosed).toBe(true);
});
