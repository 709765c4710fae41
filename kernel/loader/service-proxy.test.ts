import { describe, expect, test } from "vitest";
import { createServiceHandle, createServiceProxy } from "./service-proxy.ts";

function setup<T>(value: T) {
  const calls: string[] = [];
  const wrapped = createServiceProxy(value, (what, run) => {
    calls.push(what);
    return run();
  });
  return { calls, wrapped };
}

describe("a leased object", () => {
  test("announces its calls and those of its parts, and gives the rest as it is", () => {
    const data = { plain: [1] };
    const { calls, wrapped } = setup({ say: (x: string) => `said ${x}`, parts: { deep: () => "deep" }, data, list: [1, 2], none: null });
    expect([wrapped.say("hi"), wrapped.parts.deep(), wrapped.data, wrapped.list, wrapped.none]).toEqual([
      "said hi",
      "deep",
      data,
      [1, 2],
      null,
    ]);
    expect(wrapped.data).toBe(data);
    expect(calls).toEqual(["say", "deep"]);
  });

  test("of a class keeps its fields private and its own this", () => {
    class Counter {
      #n = 0;
      up() {
        this.#n += 1;
        return this.#n;
      }
    }
    const { calls, wrapped } = setup(new Counter());
    wrapped.up();
    expect([wrapped.up(), wrapped instanceof Counter, calls]).toEqual([2, true, ["up", "up"]]);
  });

  test("may be frozen, spread and printed", () => {
    const { wrapped } = setup(Object.freeze({ id: "x", run: () => 1 }));
    expect({ ...wrapped }.run()).toBe(1);
    expect(JSON.stringify(wrapped)).toBe('{"id":"x"}');
    expect("run" in wrapped).toBe(true);
    expect(wrapped.run).toBe(wrapped.run);
  });

  test("notices a function that was replaced", () => {
    const value = { run: () => 1 };
    const { wrapped } = setup(value);
    expect(wrapped.run()).toBe(1);
    value.run = () => 2;
    expect(wrapped.run()).toBe(2);
  });

  test("hands calls to its successor once it is gone, those of its parts too", () => {
    let next: unknown;
    const enter = <R>(_: string, run: () => R) => run();
    const value = createServiceProxy({ say: () => "old", part: { say: () => "old" } }, enter, () => next);
    next = { say: () => "new", part: { say: () => "new" } };
    expect([value.say(), value.part.say()]).toEqual(["new", "new"]);
    next = {};
    expect([value.say(), value.part.say()]).toEqual(["old", "old"]);
  });

  test("leaves what is no object alone", () => {
    expect([setup(7).wrapped, setup(undefined).wrapped]).toEqual([7, undefined]);
  });
});

describe("a handle", () => {
  test("finds the present object at each use, parts included", () => {
    let now = { name: "one", say: () => "one", part: { say: () => "one" } };
    const handle = createServiceHandle(
      () => now,
      () => undefined,
    );
    const { say, part } = handle;
    now = { name: "two", say: () => "two", part: { say: () => "two" } };
    expect([say(), part.say(), handle.name]).toEqual(["two", "two", "two"]);
    expect(handle.say).toBe(say);
  });

  test("throws at each use while there is none, and may be awaited nevertheless", async () => {
    const handle = createServiceHandle<{ say(): string }>(
      () => {
        throw new Error("down");
      },
      () => undefined,
    );
    expect(() => handle.say()).toThrow("down");
    expect(await handle).toBe(handle);
  });

  test("waits for the one that a call brings", async () => {
    let there: { say(word: string): string } | undefined;
    const handle = createServiceHandle(
      () => {
        if (!there) throw new Error("down");
        return there;
      },
      () => (there ? undefined : Promise.resolve().then(() => (there = { say: (word) => `brought ${word}` }))),
    );
    expect(await handle.say("it")).toBe("brought it");
    expect(handle.say("it")).toBe("brought it");
  });
});
