import { expect, test } from "vitest";
import { type BackoffScope, createGuestBackoff } from "./guest-backoff.ts";

function open(scope: BackoffScope) {
  const clock = { now: 0 };
  return { clock, backoff: createGuestBackoff({ scope, now: () => clock.now }) };
}

test("five ends within a minute are followed by a minute without a new guest, counted from the fifth", () => {
  const { clock, backoff } = open("guest");
  for (let i = 0; i < 4; i++) {
    backoff.count(["a"]);
    clock.now += 10_000;
  }
  expect(backoff.of("a")).toBeUndefined();
  backoff.count(["a"]);
  expect(backoff.of("b")).toEqual({ crashes: 5, leftMs: 60_000 });
  clock.now += 59_999;
  expect(backoff.of("a")).toEqual({ crashes: 5, leftMs: 1 });
  clock.now += 1;
  expect(backoff.of("a")).toBeUndefined();
});

test("ends that lie further apart are forgotten", () => {
  const { clock, backoff } = open("guest");
  for (let i = 0; i < 20; i++) {
    backoff.count([]);
    expect(backoff.of("a")).toBeUndefined();
    clock.now += 15_000;
  }
});

test("each call backs off by itself where ends are put down to calls", () => {
  const { backoff } = open("call");
  for (let i = 0; i < 5; i++) backoff.count(["a", "a"]);
  expect(backoff.of("a")).toMatchObject({ crashes: 5 });
  expect(backoff.of("b")).toBeUndefined();
});

test("an end without any call is everybody's", () => {
  const { backoff } = open("call");
  for (let i = 0; i < 5; i++) backoff.count([]);
  expect(backoff.of("a")).toMatchObject({ crashes: 5 });
});

test("a thousand names are remembered at most, the latest", () => {
  const { backoff } = open("call");
  for (let i = 0; i < 5; i++) backoff.count(["first"]);
  expect(backoff.of("first")).toBeDefined();
  for (let i = 0; i < 1_000; i++) backoff.count([`other ${i}`]);
  expect(backoff.of("first")).toBeUndefined();
});
