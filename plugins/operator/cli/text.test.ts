import { expect, it } from "vitest";
import { formatDuration } from "./text.ts";

it.each([
  [0, "0s"],
  [-5, "0s"],
  [499, "0s"],
  [59_000, "59s"],
  [60_000, "1m"],
  [3_600_000, "1h"],
  [11_520_000, "3h12m"],
  [86_400_000, "1d"],
  [187_200_000, "2d4h"],
])("%i ms is %s", (ms, text) => expect(formatDuration(ms)).toBe(text));
