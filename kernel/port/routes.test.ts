import { describe, expect, test } from "vitest";
import { prefix, route, tableOf } from "../../test/tools/routes.ts";
import { createRouteTable } from "./routes.ts";

describe("a route is refused when", () => {
  test.each([
    ["another plugin has the path", route("/a"), route("/a")],
    ["another plugin has the path for another method", route("/a"), route("/a", { method: "POST" })],
    ["another plugin's prefix covers it", route("/a", prefix), route("/a/b/c")],
    ["it covers another plugin's path", route("/a/b/c"), route("/a", prefix)],
    ["prefixes of two plugins are nested", route("/a", prefix), route("/a/b", prefix)],
    ["it is the prefix of another plugin's exact path", route("/a"), route("/a", prefix)],
    ["a prefix of everything belongs to another plugin", route("/", prefix), route("/z")],
    ["both are fallbacks", route("/", { ...prefix, fallback: true }), route("/ui", { ...prefix, fallback: true })],
  ])("%s", (_, first, second) => {
    const table = tableOf([first, "x"]);
    expect(() => table.add(second, "y")).toThrow(`plugin "y": route ${second.path} overlaps that of plugin "x"`);
  });

  test("one plugin's own routes overlap with different kinds of auth", () => {
    const table = tableOf([route("/a", { ...prefix, auth: "plugin" }), "x"]);
    expect(() => table.add(route("/a/admin"), "x")).toThrow("overlaps");
  });

  test("one plugin gives a path and method two handlers", () => {
    const table = tableOf([route("/a", { method: ["GET", "POST"] }), "x"]);
    expect(() => table.add(route("/a", { method: ["PUT", "POST"] }), "x")).toThrow("overlaps");
  });
});

test("paths that only look alike do not overlap", () => {
  const table = tableOf([route("/a", prefix), "x"], [route("/ab", prefix), "y"], [route("/A"), "z"]);
  expect(table.groups().map(({ path }) => path)).toEqual(["/a", "/ab", "/A"]);
});

test("routes of one path are one group, and its methods are all allowed; exact path, prefix and fallback are three", () => {
  const table = tableOf(
    [route("/a"), "x"],
    [route("/a", { method: ["POST", "PUT"] }), "x"],
    [route("/a", prefix), "x"],
    [route("/a", { ...prefix, fallback: true }), "ui"],
  );

  expect(table.groups().map(({ match, allow, isFallback }) => ({ match, allow, isFallback }))).toEqual([
    { match: "exact", allow: "GET, POST, PUT", isFallback: false },
    { match: "prefix", allow: "GET", isFallback: false },
    { match: "prefix", allow: "GET", isFallback: true },
  ]);
});

test("the groups are the same list until a route is added or removed", () => {
  const table = tableOf([route("/a"), "x"]);
  const first = table.groups();
  expect(table.groups()).toBe(first);

  const added = table.add(route("/b"), "x");
  const second = table.groups();
  added.dispose();

  expect([first, second, table.groups()].map((groups) => groups.length)).toEqual([1, 2, 1]);
  expect(table.groups()).not.toBe(first);
});

test("a disposed route is gone and its place is free; disposing of it again takes nothing from the next owner", () => {
  const table = createRouteTable();
  const kinds = [route("/a"), route("/p", prefix), route("/", { ...prefix, fallback: true })];
  const first = kinds.map((r) => table.add(r, "x"));
  for (const d of first) d.dispose();
  expect(table.groups()).toEqual([]);

  for (const r of kinds) table.add(r, "y");
  for (const d of first) d.dispose();

  expect(table.groups().map(({ entries, path }) => [entries[0]?.owner, path])).toEqual([
    ["y", "/a"],
    ["y", "/p"],
    ["y", "/"],
  ]);
});
