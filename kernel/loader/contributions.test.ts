import { expect, test } from "vitest";
import { createContributions } from "./contributions.ts";

test("the first owner of a point and id keeps it; the second is told who has it", () => {
  const all = createContributions();
  all.add("tool", { id: "search", value: 1, owner: "a", order: 0 });

  expect(all.add("tool", { id: "search", value: 2, owner: "b", order: 1 })).toBeUndefined();

  expect(all.ownerOf("tool", "search")).toBe("a");
  expect(all.view("tool").get("search")).toMatchObject({ value: 1, owner: "a" });
  expect(all.add("channel", { id: "search", value: 3, owner: "b", order: 1 })).toBeDefined();
});

test("a view follows load order whatever the order of registration, and is live", () => {
  const all = createContributions();
  const view = all.view<string>("tool");
  all.add("tool", { id: "late", value: "z", owner: "b", order: 2 });
  const early = all.add("tool", { id: "early", value: "y", owner: "a", order: 1 });
  expect([...view].map((c) => c.id)).toEqual(["early", "late"]);

  early?.dispose();

  expect([...view].map((c) => c.id)).toEqual(["late"]);
  expect(view.get("early")).toBeUndefined();
});

test("watchers hear of every change of their point until they are disposed of", () => {
  const all = createContributions();
  let changes = 0;
  const watching = all.view("tool").watch(() => {
    changes += 1;
  });
  const kept = all.add("tool", { id: "x", value: 1, owner: "a", order: 0 });
  all.add("channel", { id: "x", value: 1, owner: "a", order: 0 });
  kept?.dispose();
  kept?.dispose();
  expect(changes).toBe(2);

  watching.dispose();
  all.add("tool", { id: "y", value: 1, owner: "a", order: 0 });

  expect(changes).toBe(2);
});

test("what a plugin still holds is named; a disposer that comes late takes nothing from the next owner", () => {
  const all = createContributions();
  const first = all.add("tool", { id: "x", value: 1, owner: "a", order: 0 });
  expect(all.ownedBy("a")).toEqual(["tool/x"]);
  first?.dispose();
  all.add("tool", { id: "x", value: 2, owner: "b", order: 1 });

  first?.dispose();

  expect(all.ownedBy("a")).toEqual([]);
  expect(all.ownedBy("b")).toEqual(["tool/x"]);
});

test.each(["__proto__", "constructor", "toString"])("%s is an ordinary id", (id) => {
  const all = createContributions();
  expect(all.view("tool").get(id)).toBeUndefined();
  all.add("tool", { id, value: 1, owner: "a", order: 0 });
  expect(all.view("tool").get(id)?.value).toBe(1);
});

test("changes made in one turn are told once for each point, also when one of them throws", () => {
  const all = createContributions();
  const seen: string[][] = [];
  const ids = () => [...all.view("tool")].map((c) => c.id);
  all.view("tool").watch(() => seen.push(ids()));
  const old = all.add("tool", { id: "x", value: 1, owner: "a", order: 0 });
  seen.length = 0;

  expect(() =>
    all.batch(() => {
      old?.dispose();
      all.add("tool", { id: "x", value: 2, owner: "a", order: 0 });
      all.add("tool", { id: "y", value: 2, owner: "a", order: 0 });
      throw new Error("half way");
    }),
  ).toThrow("half way");

  expect(seen).toEqual([["x", "y"]]);
});

test("the first in load order has an id, whoever came first, and the other is told", () => {
  const all = createContributions();
  const told: string[] = [];
  const lost = (by: string) => told.push(`late lost to ${by}`);
  const late = all.add("tool", { id: "x", value: "late", owner: "late", order: 2, lost });
  expect(all.add("tool", { id: "x", value: "early", owner: "early", order: 1 })).toBeDefined();
  late?.dispose();
  expect([all.view("tool").get("x")?.value, told]).toEqual(["early", ["late lost to early"]]);
  expect(all.add("tool", { id: "x", value: "same", owner: "same", order: 1 })).toBeUndefined();
});

test("what comes with svc goes before what comes from outside, in whatever order they load and register", () => {
  const all = createContributions();
  const told: string[] = [];
  const outside = { id: "store", value: "outside", owner: "outside", order: 0, isOutside: true, lost: (by: string) => told.push(by) };
  all.add("kv", outside);
  expect(all.add("kv", { id: "store", value: "own", owner: "own", order: 9 })).toBeDefined();
  expect([all.ownerOf("kv", "store"), told]).toEqual(["own", ["own"]]);
  expect(all.add("kv", outside)).toBeUndefined();
});
