import { expect, test } from "vitest";
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
