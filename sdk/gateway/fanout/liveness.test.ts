import { expect, test } from "vitest";
import { createLiveness } from "./liveness.ts";

function setup() {
  const time = { now: 0 };
  const live = createLiveness(25_000, () => time.now);
  const beat = (afterMs = 25_000) => {
    time.now += afterMs;
    return live.beat();
  };
  return { live, beat, time };
}

test("a ping that was written and answered is followed by the next one", () => {
  const { live, beat } = setup();
  for (let i = 0; i < 3; i++) {
    expect(beat()).toBe("ping");
    live.written();
    live.pong();
  }
});

test("no pong within the window of a written ping: gone, at most 50 s after the last sign of life", () => {
  const { live, beat } = setup();
  expect(beat()).toBe("ping");
  live.written();
  expect(beat()).toBe("gone");
});

test("a ping that waits behind other frames proves nothing; its window begins when it has left", () => {
  const { live, beat, time } = setup();
  expect(beat()).toBe("ping");
  expect([beat(), beat()]).toEqual(["wait", "wait"]);
  time.now += 20_000;
  live.written();
  expect(beat(5_000)).toBe("wait");
  expect(beat()).toBe("gone");
});

test("a pong nobody asked for, and a write told of late, change nothing", () => {
  const { live, beat } = setup();
  live.pong();
  live.written();
  expect(beat()).toBe("ping");
  live.pong();
  live.written();
  expect(beat()).toBe("ping");
});
