import { expect, test } from "vitest";
import { addressOf } from "./address.ts";

const mappings = [{ id: "code", path: "github" }, { id: "shop", path: "code" }, { id: "any" }];

test.each([
  ["github", "github", "/hooks/github"],
  ["/hooks/github/", "github", "/hooks/github"],
  ["/github", "github", "/hooks/github"],
  ["code", "code", "/hooks/code"], // a path goes before an id
  ["shop", "code", "/hooks/code"],
  ["any", "any", "/hooks/any"],
  ["agent", "agent", "/hooks/agent"],
  ["nobody", "nobody", "/hooks/nobody"],
])("%s means the path %s", (name, path, pathname) => {
  const found = addressOf(name, "/hooks/", mappings);
  expect([found.path, found.url.pathname]).toEqual([path, pathname]);
});

test("parameters go with the address, not with the name", () => {
  const { path, url } = addressOf("github?team=a&team=b", "/hooks", mappings);
  expect([path, url.searchParams.getAll("team")]).toEqual(["github", ["a", "b"]]);
});
