import { expect, test } from "vitest";
import { createPace } from "./pace.ts";

function stage() {
  let now = 0;
  let turn: Array<() => void> = [];
  const pace = createPace(
    () => now,
    (fn) => void turn.push(fn),
  );
  const begun: string[] = [];
  const ask = (name: string, ms: number) => {
    const run = () => {
      begun.push(name);
      now += ms;
    };
    const wait = pace();
    if (wait) void wait.then(run);
    else run();
  };
  const nextTurn = async () => {
    const due = turn;
    turn = [];
    for (const fn of due) {
      fn();
      await Promise.resolve();
    }
  };
  return { ask, begun, nextTurn };
}

test("short requests begin at once, however many there are", () => {
  const { ask, begun } = stage();
  for (let i = 0; i < 1_000; i++) ask(`${i}`, 0.001);
  expect(begun).toHaveLength(1_000);
});

test("once some have filled a turn, the others begin in turns of their own, in order", async () => {
  const { ask, begun, nextTurn } = stage();
  for (const name of ["a", "b", "c", "d"]) ask(name, 8);
  expect(begun).toEqual(["a", "b"]);
  await nextTurn();
  ask("late", 0);
  expect(begun).toEqual(["a", "b", "c"]);
  await nextTurn();
  expect(begun).toEqual(["a", "b", "c", "d"]);
  await nextTurn();
  expect(begun).toEqual(["a", "b", "c", "d", "late"]);
  await nextTurn();
  ask("next", 1);
  expect(begun.at(-1)).toBe("next");
});
