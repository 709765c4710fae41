import { describe, expect, test } from "vitest";
import { arrivalsOf, inArrivals } from "../../sdk/internal/arrivals.ts";
import { runAs, running } from "../hooks/running.ts";
import { createLeases, outsideCalls, ownCallEnd } from "./leases.ts";

const turn = () => new Promise((resolve) => setImmediate(resolve));
function deferred<T>() {
  let resolve: (value: T) => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

describe("a lease lasts", () => {
  test("as long as a call that returns at once", () => {
    const leases = createLeases("demo");
    expect(leases.run(() => leases.count())).toBe(1);
    expect(leases.count()).toBe(0);
  });

  test("until a call throws", () => {
    const leases = createLeases("demo");
    expect(() =>
      leases.run(() => {
        throw new Error("no");
      }),
    ).toThrow("no");
    expect(leases.count()).toBe(0);
  });

  test.each(["resolve", "reject"] as const)("until a promise does %s", async (how) => {
    const leases = createLeases("demo");
    const call = deferred<string>();
    const result = leases.run(() => call.promise).catch((error: unknown) => error);
    expect(leases.count()).toBe(1);
    call[how]("done");
    expect(await result).toBe("done");
    expect(leases.count()).toBe(0);
  });

  test.each<[string, (iterator: AsyncIterable<number>) => Promise<void>]>([
    [
      "its end",
      async (items) => {
        for await (const _ of items);
      },
    ],
    [
      "its reader leaves",
      async (items) => {
        for await (const _ of items) break;
      },
    ],
    [
      "it throws",
      async (items) => {
        await (items as AsyncGenerator<number>).throw(new Error("stop")).catch(() => undefined);
      },
    ],
  ])("while a stream is read, until %s", async (_, read) => {
    const leases = createLeases("demo");
    const stream = leases.run(async function* () {
      yield 1;
      yield 2;
    });
    expect(leases.count()).toBe(1);
    await read(stream);
    expect(leases.count()).toBe(0);
  });

  test("while a plain iterable is read, too; a web stream is passed on as it is", async () => {
    const leases = createLeases("demo");
    const plain = leases.run(() => ({
      async *[Symbol.asyncIterator]() {
        yield 1;
      },
    }));
    expect(leases.count()).toBe(1);
    for await (const item of plain) expect(item).toBe(1);
    expect(leases.count()).toBe(0);
    const web = new ReadableStream();
    expect(leases.run(() => web)).toBe(web);
    expect(leases.count()).toBe(0);
  });

  test("while a stream is read by arrivals or by items, to its end", async () => {
    const leases = createLeases("demo");
    const open = () =>
      leases.run(() =>
        inArrivals<string>(async function* () {
          yield ["a", "b"];
        }),
      );
    const [first, second] = [open(), open()];
    expect(leases.count()).toBe(2);
    const arrived: unknown[] = [];
    for await (const arrival of arrivalsOf(first)) arrived.push(arrival);
    for await (const item of second) arrived.push(item);
    expect(arrived).toEqual([["a", "b"], "a", "b"]);
    expect(leases.count()).toBe(0);
  });

  test("until its holder gives it back, once", () => {
    const leases = createLeases("demo");
    const held = leases.hold();
    void held.dispose();
    void held.dispose();
    expect(leases.count()).toBe(0);
  });
});

test("idle is told when the last of several ends, and at once when there is none", async () => {
  const leases = createLeases("demo");
  await leases.idle();
  const [first, second] = [leases.hold(), leases.hold()];
  let idle = false;
  void leases.idle().then(() => (idle = true));
  void first.dispose();
  await turn();
  expect(idle).toBe(false);
  void second.dispose();
  await turn();
  expect(idle).toBe(true);
});

describe("whether code runs inside a call of a plugin", () => {
  const [outer, inner] = [createLeases("outer"), createLeases("inner")];

  test("is known at any depth, also after awaits, and only while that call lasts", async () => {
    const after = deferred<void>();
    let later: Promise<unknown> = Promise.resolve();
    let seen: unknown[] = [];
    await outer.run(async () => {
      await turn();
      await inner.run(async () => {
        await turn();
        seen = [ownCallEnd("outer"), ownCallEnd("inner"), ownCallEnd("third")];
      });
      later = after.promise.then(() => ownCallEnd("outer"));
    });
    expect(seen).toEqual([expect.any(Promise), expect.any(Promise), undefined]);
    after.resolve();
    expect(await later).toBeUndefined();
    expect(ownCallEnd("outer")).toBeUndefined();
  });

  test("is told when that call ends", async () => {
    let ended = false;
    await outer.run(async () => {
      void ownCallEnd("outer")?.then(() => (ended = true));
      await turn();
      expect(ended).toBe(false);
    });
    await turn();
    expect(ended).toBe(true);
  });

  test("is forgotten by what is started as nobody's call", () => {
    outer.run(() => outsideCalls(() => expect(ownCallEnd("outer")).toBeUndefined()));
  });
});

test("a call and the name of whose code runs do not displace each other, through an await", async () => {
  const leases = createLeases("weather");
  const seen = await leases.run(async () => {
    await turn();
    return await runAs("calendar", "timer", async () => {
      await turn();
      const inside = [running.getStore()?.plugin, ownCallEnd("weather") !== undefined];
      const outside = outsideCalls(() => [running.getStore()?.plugin, ownCallEnd("weather") !== undefined]);
      return [inside, outside, createLeases("inner").run(() => running.getStore()?.plugin)];
    });
  });
  expect(seen).toEqual([["calendar", true], ["calendar", false], "calendar"]);
});
