import { expect, test } from "vitest";
import { createRests, type RestScope } from "./rests.ts";

function open(scope: RestScope) {
  const clock = { now: 0 };
  return { clock, rests: createRests({ scope, now: () => clock.now }) };
}

test("five ends within a minute are followed by a minute of rest, counted from the fifth", () => {
  const { clock, rests } = open("guest");
  for (let i = 0; i < 4; i++) {
    rests.count(["a"]);
    clock.now += 10_000;
  }
  expect(rests.of("a")).toBeUndefined();
  rests.count(["a"]);
  expect(rests.of("b")).toEqual({ crashes: 5, leftMs: 60_000 });
  clock.now += 59_999;
  expect(rests.of("a")).toEqual({ crashes: 5, leftMs: 1 });
  clock.now += 1;
  expect(rests.of("a")).toBeUndefined();
});

test("ends that lie further apart are forgotten", () => {
  const { clock, rests } = open("guest");
  for (let i = 0; i < 20; i++) {
    rests.count([]);
    expect(rests.of("a")).toBeUndefined();
    clock.now += 15_000;
  }
});

test("each call rests by itself where ends are put down to calls", () => {
  const { rests } = open("call");
  for (let i = 0; i < 5; i++) rests.count(["a", "a"]);
  expect(rests.of("a")).toMatchObject({ crashes: 5 });
  expect(rests.of("b")).toBeUndefined();
});

test("an end without any call is everybody's", () => {
  const { rests } = open("call");
  for (let i = 0; i < 5; i++) rests.count([]);
  expect(rests.of("a")).toMatchObject({ crashes: 5 });
});

test("a thousand names are remembered at most, the latest", () => {
  const { rests } = open("call");
  for (let i = 0; i < 5; i++) rests.count(["first"]);
  expect(rests.of("first")).toBeDefined();
  for (let i = 0; i < 1_000; i++) rests.count([`other ${i}`]);
  expect(rests.of("first")).toBeUndefined();
});
