import { expect, test } from "vitest";
import { createRevocations } from "./revocations.ts";

test("everybody who follows is told once, at once, through one listener; who has left is not", () => {
  const secret = new AbortController();
  let listeners = 0;
  const add = secret.signal.addEventListener.bind(secret.signal);
  secret.signal.addEventListener = (...args: Parameters<typeof add>) => {
    listeners += 1;
    add(...args);
  };
  const revocations = createRevocations();
  const told: number[] = [];
  const ends = Array.from({ length: 100 }, (_, i) => revocations.follow(secret.signal, () => void told.push(i)));
  for (const end of ends.slice(2)) end();

  secret.abort();

  expect([listeners, told]).toEqual([1, [0, 1]]);
});
