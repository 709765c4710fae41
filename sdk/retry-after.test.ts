import { expect, test } from "vitest";
import { retryAfterMs } from "./retry-after.ts";

test.each([
  [{ "retry-after": "2" }, 2_000],
  [{ "retry-after": "1.5" }, 1_500],
  [{ "retry-after-ms": "250", "retry-after": "9" }, 250],
  [{ "retry-after": "Thu, 01 Jan 1970 00:00:10 GMT" }, 10_000],
  [{ "retry-after": "Thu, 01 Jan 1970 00:00:00 GMT" }, 0],
  [{ "retry-after": "99999999" }, 3_600_000],
  [{ "retry-after": "soon" }, undefined],
  [{}, undefined],
])("the wait in %j is %s ms", (headers, expected) => {
  expect(retryAfterMs(headers as Record<string, string>, 0)).toBe(expected);
});
