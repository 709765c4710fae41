import { describe, expect, test } from "vitest";
import type { HttpRoute } from "../../sdk/types/http.ts";
import { createRouteTable } from "./routes.ts";

const route = (path: string, change: Partial<HttpRoute> = {}): HttpRoute => ({
  method: "GET",
  path,
  match: "exact",
  auth: "gateway",
  handler: () => new Response(),
  ...change,
});
const prefix = { match: "prefix" } as const;

function tableOf(...routes: Array<[HttpRoute, string]>) {
  const table = createRouteTable();
  for (const [r, owner] of routes) table.add(r, owner);
  return table;
}
const found = (table: ReturnType<typeof createRouteTable>, path: string) =>
  table.match(path).map(({ entry, rest }) => `${entry.owner} ${entry.route.path} ${rest}`.trim());

describe("a path is answered by", () => {
  const table = tableOf(
    [route("/a"), "x"],
    [route("/a", { method: "POST" }), "x"],
    [route("/a", prefix), "x"],
    [route("/a/b/c", prefix), "x"],
    [route("/", { ...prefix, auth: "plugin", fallback: true }), "ui"],
  );

  test.each([
    ["the exact route, one entry per method", "/a", ["x /a", "x /a"]],
    ["the prefix below it", "/a/b", ["x /a b"]],
    ["the longest prefix", "/a/b/c/d", ["x /a/b/c d"]],
    ["a prefix at its own path", "/a/b/c", ["x /a/b/c"]],
    ["no prefix that is only the same letters", "/ab", ["ui / ab"]],
    ["the fallback otherwise", "/deep/er", ["ui / deep/er"]],
  ])("%s: %s", (_, path, expected) => {
    expect(found(table, path)).toEqual(expected);
  });

  test.each(["/v1", "/v1/x", "/api", "/api/x", "/tools/x", "/hooks", "/hooks/x", "/healthz/x", "/ready/x"])(
    "nobody when it is an API path without an owner: %s",
    (path) => {
      expect(table.match(path)).toEqual([]);
    },
  );

  test("a fallback below its own base path only", () => {
    const below = tableOf([route("/ui", { ...prefix, fallback: true }), "ui"]);
    expect(found(below, "/ui/x")).toEqual(["ui /ui ui/x"]);
    expect(below.match("/other")).toEqual([]);
  });
});

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
  const table = tableOf([route("/a", prefix), "x"]);
  table.add(route("/ab", prefix), "y");
  table.add(route("/A"), "z");
  expect(found(table, "/ab/c")).toEqual(["y /ab c"]);
});

test("a disposed route is gone and its place is free; disposing of it again takes nothing from the next owner", () => {
  const table = createRouteTable();
  const kinds = [route("/a"), route("/p", prefix), route("/", { ...prefix, fallback: true })];
  const first = kinds.map((r) => table.add(r, "x"));
  for (const d of first) d.dispose();
  expect([...table.match("/a"), ...table.match("/p/1"), ...table.match("/else")]).toEqual([]);

  for (const r of kinds) table.add(r, "y");
  for (const d of first) d.dispose();

  expect([found(table, "/a"), found(table, "/p/1"), found(table, "/else")]).toEqual([["y /a"], ["y /p 1"], ["y / else"]]);
});
