import { expect, test, vi } from "vitest";
import { createRegistrations } from "./registrations.ts";

function setup() {
  const did: string[] = [];
  const refused: string[] = [];
  const registrations = createRegistrations((error) => refused.push((error as Error).message));
  const place = (name: string) => () => {
    did.push(`+${name}`);
    return { dispose: () => void did.push(`-${name}`) };
  };
  return { did, refused, registrations, place };
}

test("places are taken at open, in order, and at once after it", () => {
  const { did, registrations, place } = setup();
  registrations.wire(place("a"));
  registrations.wire(place("b"));
  expect(did).toEqual([]);
  registrations.open();
  registrations.wire(place("c"));
  expect(did).toEqual(["+a", "+b", "+c"]);
});

test("what was given back before open is never taken", () => {
  const { did, registrations, place } = setup();
  void registrations.wire(place("a")).dispose();
  registrations.open();
  expect(did).toEqual([]);
});

test("close gives places back in reverse and takes no more; what was opened stays until the end", async () => {
  const { did, registrations, place } = setup();
  registrations.keep({ dispose: () => void did.push("-timer") });
  registrations.wire(place("a"));
  registrations.wire(place("b"));
  registrations.open();
  registrations.close();
  registrations.wire(place("late"));
  expect(did).toEqual(["+a", "+b", "-b", "-a"]);
  expect(await registrations.dispose()).toEqual([]);
  expect(did.slice(4)).toEqual(["-timer"]);
});

test("a refused place is told and stops no other", () => {
  const { did, refused, registrations, place } = setup();
  registrations.wire(() => {
    throw new Error("taken");
  });
  registrations.wire(place("a"));
  registrations.open();
  expect([did, refused]).toEqual([["+a"], ["taken"]]);
});

test("disposers that never finish hold a stop up for 5 s in all, not each; every one of them is run", async () => {
  vi.useFakeTimers();
  try {
    const { did, registrations } = setup();
    for (let n = 0; n < 1_000; n++) {
      registrations.keep({
        dispose: () => {
          did.push(`-${n}`);
          return new Promise<void>(() => undefined);
        },
      });
    }
    let left: string[] | undefined;
    void registrations.dispose().then((told) => {
      left = told;
    });
    await vi.advanceTimersByTimeAsync(5_200);
    expect(left).toEqual(["a disposer did not finish within 5 s", "999 more disposers did not finish either"]);
    expect(did).toHaveLength(1_000);
  } finally {
    vi.useRealTimers();
  }
});
