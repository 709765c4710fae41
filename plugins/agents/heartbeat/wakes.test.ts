import { fakeClock } from "svc/sdk/testing";
import { expect, test } from "vitest";
import { createWakes, type WakeRequest, type WakeResult } from "./wakes.ts";

function setup(result: (wake: WakeRequest) => Promise<WakeResult> = async () => ({ state: "done", ran: true })) {
  const clock = fakeClock();
  const attempts: Array<[string, number]> = [];
  const wakes = createWakes({
    clock,
    timers: clock,
    attempt(wake) {
      attempts.push([wake.sessionKey ?? "", clock.monotonic()]);
      return result(wake);
    },
  });
  const ask = (sessionKey: string | undefined, isOwn = false) => wakes.request({ agentId: "main", sessionKey, reason: "test", isOwn });
  return { clock, attempts, wakes, ask };
}

test("requests for one session within 250 ms are one; another session has its own", async () => {
  const { clock, attempts, ask } = setup();
  ask("a");
  await clock.advance(249);
  ask("a");
  ask("b");
  await clock.advance(1_000);
  expect(attempts).toEqual([
    ["a", 250],
    ["b", 499],
  ]);
});

test("a request during an attempt is a new one after it", async () => {
  let end = (_: WakeResult) => undefined as void;
  const { clock, attempts, ask } = setup(() => new Promise((resolve) => (end = resolve)));
  ask("a");
  await clock.advance(250);
  ask("a");
  ask("a");
  await clock.advance(5_000);
  expect(attempts).toHaveLength(1);
  end({ state: "done", ran: true });
  await clock.advance(249);
  expect(attempts).toHaveLength(1);
  await clock.advance(1);
  expect(attempts).toHaveLength(2);
});

test("the gateway's own keep 30 s to any heartbeat that was asked for; one from outside does not wait for that", async () => {
  const { clock, attempts, ask } = setup();
  ask("a");
  await clock.advance(250);
  ask("a", true);
  await clock.advance(29_999);
  expect(attempts).toHaveLength(1);
  await clock.advance(1);
  expect(attempts.at(-1)).toEqual(["a", 30_250]);
  ask("a", true);
  ask("a");
  await clock.advance(250);
  expect(attempts).toHaveLength(3);
});

test("the gateway's own are five in ten minutes per agent; skipped ones do not count", async () => {
  let ran = true;
  const { clock, attempts, ask } = setup(async () => ({ state: "done", ran }));
  const own = async () => {
    ask("a", true);
    await clock.advance(30_000);
  };
  ran = false;
  await own();
  ran = true;
  for (let i = 0; i < 5; i++) await own();
  expect(attempts).toHaveLength(6);
  const first = attempts[1]?.[1] ?? 0;
  ask("a", true);
  await clock.advance(first + 600_000 - clock.monotonic() - 1);
  expect(attempts).toHaveLength(6);
  await clock.advance(1);
  expect(attempts).toHaveLength(7);
});

test("at most 1,000 sessions wait, and none after the stop", async () => {
  const { clock, attempts, wakes, ask } = setup();
  for (let i = 0; i < 1_000; i++) expect(ask(`s${i}`)).toBe(true);
  expect(ask("one more")).toBe(false);
  expect(ask("s5")).toBe(true);
  wakes.stop();
  expect([ask("later"), clock.waiting]).toEqual([false, []]);
  await clock.advance(1_000);
  expect(attempts).toEqual([]);
});
