import { expect, test } from "vitest";
import { readVendorWords, scrubVendorText } from "./vendor-text.ts";

test("a vendor's text has no key, no credentials in addresses, no line breaks and at most 300 characters", () => {
  const text = "key hunter2-hunter2 or sk-abcdefgh12345678 refused\nat https://bob:pw@host/v1, Bearer abc";

  expect(scrubVendorText(text, ["hunter2-hunter2", ""])).toBe("key *** or *** refused at https://host/v1, Bearer ***");
  expect(scrubVendorText("x".repeat(400), [])).toHaveLength(300);
});

test.each([
  ['{"error":{"message":"no","type":"t","code":7}}', { message: "no", type: "t", code: "7" }],
  ['{"error":"no"}', { message: "no" }],
  ['{"message":"no","code":null}', { message: "no" }],
  ['{"detail":"no"}', { message: "no" }],
  ['"no"', {}],
  ["<html>", {}],
])("the words in %s are read", (body, expected) => {
  expect(readVendorWords(body)).toEqual(expected);
});
