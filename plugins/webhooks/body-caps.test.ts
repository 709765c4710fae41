import { expect, test } from "vitest";
import { bodyCaps } from "./body-caps.ts";

const base = { action: "agent" as const };
const caps = bodyCaps(
  { maxBodyBytes: 1_000 } as never,
  [
    { ...base, match: { path: "mail" }, maxBodyBytes: 9_000 },
    { ...base, match: { path: "small" }, maxBodyBytes: 100 },
    { ...base, match: { path: "plain" } },
    { ...base, match: { path: "two", source: "a" }, maxBodyBytes: 50 },
    { ...base, match: { path: "two", source: "b" } },
    { ...base, match: { source: "anywhere" }, maxBodyBytes: 2_000 },
  ] as never,
);

test.each([
  ["a path of its own cap", "mail", 9_000],
  ["a path that wants less", "small", 100],
  ["a path without one", "plain", 1_000],
  ["a path that two mappings share: the roomier one", "two", 1_000],
  ["any other path: that of the mapping for all paths", "elsewhere", 2_000],
  ["wake, which nobody maps", "wake", 1_000],
  ["agent, which nobody maps", "agent", 1_000],
])("the largest body of %s", (_name, path, bytes) => {
  expect(caps(path)).toBe(bytes);
});

test("without mappings every path has the general cap", () => {
  expect(bodyCaps({ maxBodyBytes: 1_000 }, [])("github")).toBe(1_000);
});
