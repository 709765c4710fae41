import { expect, test } from "vitest";
import { createSilentSockets } from "./silent-sockets.ts";

function setup(perAddress: number, total: number) {
  const closed: string[] = [];
  const silent = createSilentSockets<string>({ perAddress, total }, (oldest) => void closed.push(oldest));
  return { silent, closed };
}

test("at the budget of an address everybody stays; the next one pushes out the oldest of that address, not of another", () => {
  const { silent, closed } = setup(2, 100);
  silent.enter("b1", "b");
  for (const name of ["a1", "a2"]) silent.enter(name, "a");
  expect(closed).toEqual([]);
  silent.enter("a3", "a");
  silent.enter("a4", "a");
  expect([closed, silent.size()]).toEqual([["a1", "a2"], 3]);
});

test("at the budget of all the oldest of all goes", () => {
  const { silent, closed } = setup(2, 3);
  for (const name of ["a", "b", "c", "d", "e"]) silent.enter(name, name);
  expect([closed, silent.size()]).toEqual([["a", "b"], 3]);
});

test("who has shaken hands is silent no more, and counts for nobody", () => {
  const { silent, closed } = setup(2, 3);
  for (const name of ["a1", "a2"]) silent.enter(name, "a");
  silent.leave("a1");
  silent.leave("a1");
  silent.leave("stranger");
  silent.enter("a3", "a");
  expect([closed, silent.size()]).toEqual([[], 2]);
  for (const name of ["a2", "a3"]) silent.leave(name);
  expect(silent.size()).toBe(0);
});
