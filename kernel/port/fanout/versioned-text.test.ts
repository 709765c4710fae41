import { expect, test } from "vitest";
import { createVersionedText } from "./versioned-text.ts";

test("it is made for a new version, and when it has become old", () => {
  const at = { version: 1, now: 0, made: 0 };
  const value = () => {
    at.made += 1;
    return { n: at.made };
  };
  const text = createVersionedText({ version: () => at.version, value, monotonic: () => at.now, maxAgeMs: 1_000 });
  expect([text(), text()]).toEqual(['{"n":1}', '{"n":1}']);
  at.version = 2;
  expect(text()).toBe('{"n":2}');
  at.now = 999;
  expect(text()).toBe('{"n":2}');
  at.now = 1_000;
  expect(text()).toBe('{"n":3}');
});
