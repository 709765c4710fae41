import { expect, test } from "vitest";
import { createLiveness } from "./liveness.ts";

function setup() {
  const time = { now: 0, sent: 0 };
  const live = createLiveness(
    25_000,
    () => time.now,
    () => time.sent,
  );
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

test("a ping that waits behind other frames proves nothing as long as some leave; its window begins when it has left", () => {
  const { live, beat, time } = setup();
  expect(beat()).toBe("ping");
  for (let i = 0; i < 3; i++) {
    time.sent += 1;
    expect(beat()).toBe("wait");
  }
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

test("a ping that waits behind frames of which none leaves: gone, however few they are", () => {
  const { beat, time } = setup();
  expect(beat()).toBe("ping");
  time.sent += 1;
  expect(beat()).toBe("wait");
  expect(beat()).toBe("gone");
});
