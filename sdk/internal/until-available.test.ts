import { expect, test } from "vitest";
import { defineErrors } from "../errors.ts";
import { type FakeClock, fakeClock } from "../testing/fake-clock.ts";
import type { Logger } from "../types/common.ts";
import type { OpResult } from "../types/store.ts";
import { sharedErrors } from "./errors.ts";
import { commitWhenAvailable, untilAvailable } from "./until-available.ts";

const nothing = () => undefined;
const logger: Logger = { trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing, child: () => logger };
const busy = (retryAfterMs?: number) => sharedErrors.draining({}, retryAfterMs === undefined ? {} : { retryAfterMs });
const never = new AbortController().signal;

function depsOf(clock: FakeClock, commit: () => Promise<OpResult[]> = async () => []) {
  return { ctx: { logger, timers: clock }, store: () => ({ commit }) };
}

/** Times of the calls, in ms after the first. */
async function attempts(errors: Error[]): Promise<number[]> {
  const clock = fakeClock();
  const begun = clock.now();
  const at: number[] = [];
  const done = untilAvailable(
    async () => {
      at.push(clock.now() - begun);
      const error = errors.shift();
      if (error) throw error;
    },
    never,
    depsOf(clock),
  );
  let isDone = false;
  void done.then(() => (isDone = true));
  while (!isDone) await clock.advance(50);
  return at;
}

test("a gateway that is short of memory is waited for", async () => {
  const short = defineErrors({ "memory-pressure": { message: "short of memory", http: 503, rpc: "UNAVAILABLE" } });
  expect(await attempts([short.memoryPressure()])).toEqual([0, 250]);
});

test("work that cannot be taken now is tried again after 0.25 s, doubling to 2 s", async () => {
  expect(await attempts(Array.from({ length: 6 }, () => busy()))).toEqual([0, 250, 750, 1_750, 3_750, 5_750, 7_750]);
});

test("a longer wait that the error asks for is kept, up to 2 s", async () => {
  expect(await attempts([busy(1_000), busy(60_000)])).toEqual([0, 1_000, 3_000]);
});

test("an error that does not pass, and an abort during a wait, end it", async () => {
  const clock = fakeClock();
  await expect(untilAvailable(() => Promise.reject(new Error("wrong")), never, depsOf(clock))).rejects.toThrow("wrong");
  const stopping = new AbortController();
  const waiting = untilAvailable(() => Promise.reject(busy()), stopping.signal, depsOf(clock));
  stopping.abort(new Error("stopped"));
  await expect(waiting).rejects.toThrow("stopped");
});

test("a commit that failed and was stored all the same is not made again", async () => {
  const clock = fakeClock();
  let commits = 0;
  const commit = async (): Promise<OpResult[]> => {
    commits += 1;
    throw busy();
  };
  const done = commitWhenAvailable([], { deps: depsOf(clock, commit), signal: never, isStored: async () => true });
  let results: OpResult[] | undefined;
  void done.then((value) => (results = value));
  for (let n = 0; n < 20 && !results; n++) await clock.advance(50);

  expect([results, commits]).toEqual([[], 1]);
});
