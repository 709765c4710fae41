import { expect, test } from "vitest";
import { Replays } from "./replays.ts";

function setup() {
  const clock = { now: 0 };
  const replays = new Replays(() => clock.now);
  let done = 0;
  const ask = (key: string | undefined) => replays.run(key, async () => ++done);
  return { clock, replays, ask };
}

test("a repeat waits for the first and gets its answer, a request without a key is carried out each time", async () => {
  const { ask } = setup();
  expect(await Promise.all([ask("a"), ask("a"), ask("b")])).toEqual([1, 1, 2]);
  expect([await ask("a"), await ask(undefined), await ask(undefined)]).toEqual([1, 3, 4]);
});

test("an answer is kept for 300 s after its end, and not a moment longer than that", async () => {
  const { clock, ask } = setup();
  await ask("a");
  clock.now = 300_000;
  expect(await ask("a")).toBe(1);
  clock.now = 300_001;
  expect(await ask("a")).toBe(2);
});

test("of 1,001 answers the oldest is forgotten, work that goes on is not", async () => {
  const { replays, ask } = setup();
  let finish: (value: string) => void = () => undefined;
  const working = replays.run("working", () => new Promise<string>((resolve) => (finish = resolve)));
  for (let i = 0; i < 1_000; i++) await ask(`k${i}`);
  expect(await ask("k0")).toBe(1);
  await ask("one more");
  await ask("that looks again");
  expect(await ask("k0")).toBe(1_003);

  const repeat = replays.run("working", async () => "again");
  finish("first");
  expect(await Promise.all([working, repeat])).toEqual(["first", "first"]);
});

test("what was refused is not kept", async () => {
  const { replays } = setup();
  await expect(replays.run("a", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await replays.run("a", async () => "yes")).toBe("yes");
});
