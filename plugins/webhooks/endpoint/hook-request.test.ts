import { expect, test } from "vitest";
import { growth, LINEAR } from "../../../test/tools/growth.ts";
import { subPath } from "./hook-request.ts";

test.each([
  ["github", "github"],
  ["/github/", "github"],
  ["//a//b//", "a//b"],
  ["///", ""],
  ["", ""],
])("the path of %j is %j", (rest, path) => {
  expect(subPath(rest)).toBe(path);
});

test("an address of slashes does not block the event loop: nobody has shown a token yet", () => {
  const work = (n: number) => {
    const rest = `a${"/".repeat(n)}b`;
    return () => subPath(rest);
  };

  expect(growth(work, { from: 1_000, to: 64_000 })).toBeLessThan(LINEAR);
});
