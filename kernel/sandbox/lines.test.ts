import { expect, test } from "vitest";
import { createLines } from "./lines.ts";

function read(chunks: string[], maxBytes = 10): Array<string | undefined> {
  const seen: Array<string | undefined> = [];
  const take = createLines({ maxBytes, onLine: (text) => seen.push(text), onTooLong: () => seen.push(undefined) });
  for (const chunk of chunks) take(Buffer.from(chunk, "latin1"));
  return seen;
}

test("lines come whole, however they were cut on the way", () => {
  expect(read(["one\ntw", "o", "\n\nthree"])).toEqual(["one", "two", ""]);
});

test("a letter may be cut in two", () => {
  expect(read(["\xc3", "\xa9\n"])).toEqual(["é"]);
});

test("a line longer than allowed is reported once, before it has ended, and nothing after it is read", () => {
  expect(read(["ok\n12345", "678901", "\nmore\n"])).toEqual(["ok", undefined]);
  expect(read(["1234567890\n"])).toEqual(["1234567890"]);
});
