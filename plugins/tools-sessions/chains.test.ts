import { expect, test } from "vitest";
import { Chains, MAX_CAUSED } from "./chains.ts";

test("three messages lead from one session to the next, and a fourth does not", () => {
  const chains = new Chains();
  expect(["b", "c", "d"].map((to, i) => chains.add("abc"[i] as string, to))).toEqual([undefined, undefined, undefined]);
  expect(chains.add("d", "e")).toContain("written to each other 3 times already");
});

test("a run writes twenty messages, counted with those that its messages cause", () => {
  const chains = new Chains();
  for (let i = 0; i < MAX_CAUSED - 2; i++) expect(chains.add("a", `to-${i}`)).toBeUndefined();
  expect(chains.add("to-0", "deeper")).toBeUndefined();
  expect(chains.add("deeper", "deepest")).toBeUndefined();
  for (const from of ["a", "to-1", "deeper"]) expect(chains.add(from, "more")).toContain("20 messages to other sessions are enough");
  expect(chains.add("another run", "to")).toBeUndefined();
});

test("a run that goes on writing is remembered however many others come and go", () => {
  const chains = new Chains();
  for (let i = 0; i < MAX_CAUSED; i++) {
    chains.add("a", `a-${i}`);
    for (let j = 0; j < 200; j++) chains.add(`other-${i}-${j}`, `to-${i}-${j}`);
  }
  expect(chains.add("a", "more")).toContain("are enough");
});
