import { beforeEach, describe, expect, test } from "vitest";
import { createReplays, type Replays } from "./replays.ts";

let now = 0;
let replays: Replays;
let done: string[];
beforeEach(() => {
  now = 0;
  done = [];
  replays = createReplays({ monotonic: () => now, max: 3, maxChars: 100 });
});

const work = (answer: string) => async () => {
  done.push(answer);
  return answer;
};

test("a repeat gets the first answer, whatever it would have said", async () => {
  expect(await replays.run("k", work("one"))).toBe("one");
  expect(await replays.run("k", work("two"))).toBe("one");
  expect(done).toEqual(["one"]);
});

test("a repeat meanwhile waits for the same end", async () => {
  const [a, b] = await Promise.all([replays.run("k", work("one")), replays.run("k", work("two"))]);
  expect([a, b, ...done]).toEqual(["one", "one", "one"]);
});

test("without a key nothing is kept", async () => {
  await replays.run(undefined, work("one"));
  expect(await replays.run(undefined, work("two"))).toBe("two");
});

describe("the work is done again", () => {
  test("after a rejection", async () => {
    await expect(replays.run("k", async () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(await replays.run("k", work("two"))).toBe("two");
  });

  test("after an answer that is not to be kept", async () => {
    await replays.run("k", work("refused"), (answer) => answer !== "refused");
    expect(await replays.run("k", work("two"))).toBe("two");
  });

  test("5 min after the end, not a moment earlier", async () => {
    await replays.run("k", work("one"));
    now = 299_999;
    expect(await replays.run("k", work("two"))).toBe("one");
    now = 300_000;
    expect(await replays.run("k", work("three"))).toBe("three");
  });

  test("when newer answers have taken the place of the oldest", async () => {
    for (const key of ["a", "b", "c", "d"]) await replays.run(key, work(key));
    expect(await replays.run("b", work("again"))).toBe("b");
    expect(await replays.run("a", work("again"))).toBe("again");
  });

  test("when answers became too large together", async () => {
    await replays.run("a", work("x".repeat(60)));
    await replays.run("b", work("y".repeat(60)));
    expect(await replays.run("b", work("again"))).toMatch(/^y/);
    expect(await replays.run("a", work("again"))).toBe("again");
  });
});

test("work under way keeps its place, whatever comes after it", async () => {
  let finish: (text: string) => void = () => undefined;
  const slow = replays.run("slow", () => new Promise<string>((resolve) => (finish = resolve)));
  for (const key of ["a", "b", "c", "d", "e"]) await replays.run(key, work(key));
  const repeat = replays.run("slow", work("again"));
  finish("late");
  expect([await slow, await repeat]).toEqual(["late", "late"]);
});
