import { expect, test } from "vitest";
import { createDays } from "./days.ts";

test.each([
  ["soon after a night of 23 hours", "2026-03-29T22:30:00Z", ["2026-03-30", "2026-03-29", "2026-03-28"]],
  ["late on a day of 25 hours", "2026-10-25T22:30:00Z", ["2026-10-25", "2026-10-24", "2026-10-23"]],
  ["on the first of a year", "2026-01-01T12:00:00Z", ["2026-01-01", "2025-12-31", "2025-12-30"]],
])("%s no day is left out and none comes twice", (_, now, expected) => {
  expect(createDays("Europe/Berlin").upTo(Date.parse(now), 3)).toEqual(expected);
});

test("every day of a year is one of them, whatever its hours are", () => {
  const days = createDays("Europe/Berlin");
  for (let hour = 0; hour < 24; hour++) {
    const year = days.upTo(Date.UTC(2026, 11, 31, hour), 365);
    expect(new Set(year).size).toBe(365);
  }
  expect(days.upTo(Date.parse("2026-03-30T12:00:00Z"), 2, 1)).toEqual(["2026-03-29", "2026-03-28"]);
});
