import { describe, expect, test } from "vitest";
import { entryName } from "./entry-name.ts";

test.each([
  ["package/index.ts", "package/index.ts"],
  ["./package/index.ts", "package/index.ts"],
  ["package//a/./b.ts", "package/a/b.ts"],
  ["package/", "package"],
  ["./", ""],
  ["..a/b..", "..a/b.."],
  ["ä/ü.ts", "ä/ü.ts"],
  ["a".repeat(255), "a".repeat(255)],
  [Array(64).fill("d").join("/"), Array(64).fill("d").join("/")],
])("$0 is taken", (raw, name) => {
  expect(entryName(raw)).toEqual({ name });
});

describe("refused is", () => {
  test.each([
    ["../x", "leads upwards"],
    ["package/../../x", "leads upwards"],
    ["package/..", "leads upwards"],
    ["/etc/passwd", "has an absolute name"],
    ["C:/windows/x", "has a drive or a stream"],
    ["c:x", "has a drive or a stream"],
    ["package/x.ts:hidden", "has a drive or a stream"],
    ["package\\..\\x", "has a backslash"],
    ["\\\\host\\share", "has a backslash"],
    ["a\u0000b", "has control characters"],
    ["a\nb", "has control characters"],
    ["a".repeat(256), "has a part of more than 255 bytes"],
    ["ä".repeat(128), "has a part of more than 255 bytes"],
    [Array(65).fill("d").join("/"), "is more than 64 folders deep"],
    [Array(513).fill("d").join("/"), "has a name of more than 1024 bytes"],
  ])("$0", (raw, reason) => {
    expect(entryName(raw)).toEqual({ reason: expect.stringContaining(reason) });
  });
});
