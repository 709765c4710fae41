import { expect, test } from "vitest";
import { withoutVendor } from "./models.ts";

test.each([
  ["openai/text-embedding-3-small", "text-embedding-3-small"],
  ["text-embedding-3-small", "text-embedding-3-small"],
  ["other/text-embedding-3-small", "other/text-embedding-3-small"],
  ["openai/openai/x", "openai/x"],
  ["openai/", "openai/"],
])("%s is called %s by its vendor", (model, expected) => {
  expect(withoutVendor(model, ["openai"])).toBe(expected);
});
