import { describe, expect, test } from "vitest";
import { idFault, idPattern, isWellFormed, toIdText } from "./id-text.ts";

describe("an id", () => {
  test.each(["", "main", "openai-user:Zoë", "日本 👩‍💻", "a\u202eb"])("may be %j", (id) => {
    expect([idFault(id), toIdText(id), isWellFormed(id)]).toEqual([undefined, id, true]);
  });

  test.each([
    ["a\ud800", "a\ufffd", "lone surrogates (halves of a character) are not allowed"],
    ["\udc00\ud800", "\ufffd\ufffd", "lone surrogates (halves of a character) are not allowed"],
    ["a\u0000b", "a\ufffdb", "control characters are not allowed"],
    ["a\u009bb", "a\ufffdb", "control characters are not allowed"],
    ["a\nb", "a\ufffdb", "control characters are not allowed"],
    ["a\u2028b", "a\ufffdb", "control characters are not allowed"],
  ])("is not %j", (id, normalized, fault) => {
    expect([idFault(id), toIdText(id), idPattern.test(id)]).toEqual([fault, normalized, false]);
  });
});

test("a normalized id comes back from UTF-8 as it was", () => {
  for (const id of ["a\ud800", "\udfff", "x\ud83dy"]) expect(Buffer.from(toIdText(id)).toString("utf8")).toBe(toIdText(id));
});
