import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import type { ChannelState } from "../types/channel.ts";
import type { Logger } from "../types/common.ts";
import { AccountRefusedError, keepConnected, reconnectWaitMs } from "./keep-connected.ts";

const logger = { debug: () => undefined } as unknown as Logger;

/** An account whose links end as the list says, and whose clock jumps by `heldMs` while a link stands. */
function kept(ends: Array<Error | undefined>, { heldMs = 0, isReady = true } = {}) {
  const stopping = new AbortController();
  const states: Array<Partial<ChannelState>> = [];
  let now = 0;
  let links = 0;
  const done = keepConnected(
    {
      signal: stopping.signal,
      clock: { now: () => now, monotonic: () => now },
      logger,
      state: (patch) => {
        states.push(patch);
      },
    },
    {
      firstWaitMs: 1,
      random: () => 0.5,
      describe: (reason) => reason.message.replace("s3cret", "***"),
      async connect(onReady) {
        const end = ends[links++];
        if (links > ends.length) stopping.abort();
        if (isReady) onReady();
        now += heldMs;
        await nextTurn();
        return end;
      },
    },
  );
  return { done, states, links: () => links };
}

test("a link that is gone is made again until the account stops, and its state says so without secrets", async () => {
  const { done, states } = kept([new Error("reset with s3cret"), undefined]);
  await done;

  expect(states.map(({ lifecycle }) => lifecycle)).toEqual(["starting", "ready", "recovering", "ready", "recovering", "ready", "stopped"]);
  expect(states.flatMap(({ lastError }) => lastError ?? [])).toEqual(["reset with ***", "the link was closed"]);
});

test("a refusal blocks the account at once", async () => {
  const { done, states, links } = kept([new AccountRefusedError("wrong password"), undefined], { isReady: false });
  await done;

  expect(states.map(({ lifecycle }) => lifecycle)).toEqual(["starting", "blocked"]);
  expect(states.at(-1)).toEqual({ lifecycle: "blocked", connected: false, lastError: "wrong password" });
  expect(links()).toBe(1);
});

test("a link is made again after 1 s, each time 1.8 times later, at most after a minute, a fifth more or less", () => {
  expect([1, 2, 3, 8, 20].map((attempt) => reconnectWaitMs(1_000, attempt, 0.5))).toEqual([1_000, 1_800, 3_240, 60_000, 60_000]);
  expect([reconnectWaitMs(1_000, 1, 0), reconnectWaitMs(1_000, 1, 1)]).toEqual([800, 1_200]);
});

test("a link that held for a minute starts the waits over", async () => {
  const waits: number[] = [];
  for (const heldMs of [0, 61_000]) {
    const stopping = new AbortController();
    let now = 0;
    let links = 0;
    const debug = (_: string, fields?: Record<string, unknown>) => {
      waits.push(Number(fields?.waitMs));
    };
    await keepConnected(
      { signal: stopping.signal, clock: { now: () => now, monotonic: () => now }, logger: { ...logger, debug }, state: () => undefined },
      {
        firstWaitMs: 10,
        random: () => 0.5,
        async connect(onReady) {
          if (++links === 3) stopping.abort();
          onReady();
          now += heldMs;
          return undefined;
        },
      },
    );
  }
  expect(waits).toEqual([10, 18, 10, 10]);
});
