import { expect, test } from "vitest";
import { createWriteBatcher } from "./write-batcher.ts";

function setup(maxBytes = 100) {
  const did: string[] = [];
  let after: (() => void) | undefined;
  const turn = createWriteBatcher(maxBytes, (fn) => {
    after = fn;
  });
  const stream = (name: string) => ({ cork: () => void did.push(`${name} cork`), uncork: () => void did.push(`${name} uncork`) });
  return { turn, did, a: stream("a"), b: stream("b"), end: () => after?.() };
}

test("whatever is written to a socket in one turn leaves together at its end", () => {
  const { turn, did, a, b, end } = setup();
  for (const to of [a, b, a, a]) turn.write(to, 1);
  expect(did).toEqual(["a cork", "b cork"]);
  end();
  expect(did.slice(2)).toEqual(["a uncork", "b uncork"]);
  turn.write(a, 1);
  end();
  expect(did.slice(4)).toEqual(["a cork", "a uncork"]);
});

test("no more gathers than may", () => {
  const { turn, did, a, b, end } = setup(100);
  turn.write(a, 100);
  turn.write(b, 1);
  expect(did).toEqual(["a cork", "b cork"]);
  turn.write(a, 1);
  expect(did.slice(2)).toEqual(["a uncork", "b uncork", "a cork"]);
  end();
  expect(did.slice(5)).toEqual(["a uncork"]);
});

test("the turn ends by itself", async () => {
  const did: string[] = [];
  createWriteBatcher(100).write({ cork: () => void did.push("cork"), uncork: () => void did.push("uncork") }, 1);
  expect(did).toEqual(["cork"]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(did).toEqual(["cork", "uncork"]);
});
