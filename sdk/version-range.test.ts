import { describe, expect, test } from "vitest";
import { compareVersions, isVersionRange, parseVersion, satisfies, type Version } from "./version-range.ts";

describe("a range takes", () => {
  test.each([
    ["^1.0.0", "1.0.0 1.9.9", "0.9.9 2.0.0 2.0.0-0"],
    ["^1.1.0", "1.1.0 1.2.0", "1.0.0"],
    ["^0.2.3", "0.2.3 0.2.9", "0.2.2 0.3.0 1.0.0"],
    ["^0.0.3", "0.0.3", "0.0.2 0.0.4"],
    ["^0.0", "0.0.0 0.0.9", "0.1.0"],
    ["^0", "0.0.0 0.9.9", "1.0.0"],
    ["^1", "1.0.0 1.5.0", "2.0.0"],
    ["^1.x", "1.0.0", "0.9.0 2.0.0"],
    ["^1.2.3-beta.2", "1.2.3-beta.2 1.2.3-beta.10 1.2.3 1.9.0", "1.2.3-beta.1 1.2.4-beta.2 2.0.0"],
    ["~1.1.0", "1.1.0 1.1.5", "1.2.0 1.0.9"],
    ["~1.2", "1.2.0 1.2.9", "1.3.0"],
    ["~1", "1.0.0 1.9.0", "2.0.0"],
    ["~> 1.1.0", "1.1.5", "1.2.0"],
    ["1.2.3", "1.2.3 1.2.3+build.5", "1.2.4 1.2.3-rc.1"],
    ["=1.2.3", "1.2.3", "1.2.2"],
    ["v1.2.3", "1.2.3", "1.2.2"],
    ["1.2", "1.2.0 1.2.9", "1.1.9 1.3.0"],
    ["1", "1.0.0 1.9.9", "2.0.0"],
    ["1.x.x", "1.0.0 1.9.9", "0.9.9 2.0.0"],
    ["1.X", "1.4.0", "2.0.0"],
    ["1.x.3", "1.0.0 1.4.0", "2.0.3"],
    ["*", "0.0.0 99.0.0", "1.0.0-beta"],
    [" * ", "1.2.3", "1.2.3-beta"],
    [">=1.0.0", "1.0.0 3.0.0", "0.9.0"],
    [">1.0.0", "1.0.1", "1.0.0"],
    [">1.2", "1.3.0", "1.2.9"],
    [">1", "2.0.0", "1.9.9"],
    [">=1.2", "1.2.0", "1.1.9"],
    ["<2", "1.9.9", "2.0.0 2.0.0-alpha"],
    ["<1.2.3", "1.2.2", "1.2.3 1.2.3-beta"],
    ["<=1.2.3", "1.2.3", "1.2.4"],
    ["<=1.2", "1.2.9", "1.3.0"],
    [">= 1.0.0 < 1.5.0", "1.0.0 1.4.9", "1.5.0 0.9.0"],
    [">=1.0.0 <2.0.0 >=1.5.0", "1.5.0", "1.4.0"],
    ["1.2.3 - 2.3.4", "1.2.3 2.3.4", "1.2.2 2.3.5"],
    ["1.2 - 2.3", "1.2.0 2.3.9", "1.1.9 2.4.0"],
    ["1 - 2", "1.0.0 2.9.9", "3.0.0"],
    ["^1.0.0 || ^3.0.0", "1.5.0 3.1.0", "2.0.0 4.0.0"],
    ["1.2.3||>=2.0.0-rc.1 <2.0.0", "1.2.3 2.0.0-rc.1", "2.0.0 1.2.4"],
    [">=1.0.0-alpha", "1.0.0-alpha 1.0.0-beta 1.0.0", "1.0.1-alpha"],
    [">*", "", "0.0.0 1.0.0"],
    ["<*", "", "0.0.0 1.0.0"],
    [">=*", "1.0.0", "1.0.0-a"],
    ["<=*", "1.0.0", ""],
  ])("%s: exactly its versions", (range, inside, outside) => {
    const versions = (list: string) => list.split(" ").filter(Boolean);
    expect(versions(inside).filter((v) => !satisfies(v, range))).toEqual([]);
    expect(versions(outside).filter((v) => satisfies(v, range))).toEqual([]);
  });
});

test.each([
  "",
  "  ",
  "latest",
  "1.2.3.4",
  "^",
  "a.b.c",
  ">=1.0.0 || ",
  "^1.0.0, <2",
  "1.2.3 -",
  "01.2.3",
  "~latest",
  "^1 - ^2",
  "1".repeat(300),
])("%j is no range and takes nothing", (range) => {
  expect(isVersionRange(range)).toBe(false);
  expect(satisfies("1.2.3", range)).toBe(false);
});

test.each(["1", "1.2", "v1.2.3", "1.2.3.4", "01.2.3", "1.2.3-", "1.2.3-01", "1.2.3-a..b", "", "1.2.x", `1.2.${"3".repeat(300)}`])(
  "%j is no version",
  (text) => {
    expect(parseVersion(text)).toBeUndefined();
    expect(satisfies(text, "*")).toBe(false);
  },
);

test("versions sort as semver.org says", () => {
  const sorted =
    "0.9.9 1.0.0-alpha 1.0.0-alpha.1 1.0.0-alpha.beta 1.0.0-beta 1.0.0-beta.2 1.0.0-beta.11 1.0.0-rc.1 1.0.0 1.0.1 1.1.0 2.0.0";
  const versions = sorted.split(" ").map((text) => ({ text, version: parseVersion(text) as Version }));

  expect(versions.toReversed().sort((a, b) => compareVersions(a.version, b.version))).toEqual(versions);
});
