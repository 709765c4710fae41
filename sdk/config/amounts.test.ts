import { describe, expect, test } from "vitest";
import { duration, durationMs, durationText, intervalMinutes, parseDuration, parseSize, sizeBytes, sizeOrShare } from "./amounts.ts";

describe("a duration", () => {
  test.each([
    ["250ms", 250],
    ["45s", 45_000],
    ["1h30m", 5_400_000],
    ["1.5m", 90_000],
    [" 2d ", 172_800_000],
    ["10", undefined],
    ["", undefined],
    ["s", undefined],
    ["-5s", undefined],
    ["1h 30m", undefined],
    ["1 fortnight", undefined],
  ])("%j is %j ms", (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  test.each([
    ["ms", "1s", 1_000],
    ["s", "1h30m", 5_400],
    ["m", "2h", 120],
    ["h", "1d", 24],
    ["d", "48h", 2],
    ["s", 600, 600],
  ] as const)("is kept in the unit of its key: %s of %j", (unit, written, value) => {
    expect(duration(unit).parse(written)).toBe(value);
  });

  test.each([
    ["s", "1500ms"],
    ["m", "90s"],
    ["d", "36h"],
    ["ms", 1.5],
  ] as const)("that is no whole number of it is refused: %s of %j", (unit, written) => {
    expect(duration(unit).safeParse(written).success).toBe(false);
  });

  test("has bounds, in either form", () => {
    const schema = durationMs(1_000, 60_000);
    for (const good of [1_000, 60_000, "1s", "1m"]) expect(schema.safeParse(good).success).toBe(true);
    for (const bad of [999, 60_001, "999ms", "61s", true, null]) expect(schema.safeParse(bad).success).toBe(false);
    expect(schema.safeParse("2m").error?.issues[0]?.message).toBe(
      'expected a whole number of milliseconds or a text such as "30s" (1000 to 60000 milliseconds)',
    );
  });

  test("of a key that names no unit needs one, but for nothing at all", () => {
    expect([durationText().parse("30d"), durationText().parse(0), durationText().parse("0")]).toEqual([2_592_000_000, 0, 0]);
    for (const bad of [30, "30", "a day", ""]) expect(durationText().safeParse(bad).success).toBe(false);
    expect(durationText(1).safeParse(30).error?.issues[0]?.message).toBe('expected a text with a unit such as "30m" or "30d"');
    expect(durationText(1).safeParse(0).success).toBe(false);
  });

  test("between two runs may be a number of minutes, 0 = off", () => {
    expect([30, "30m", "1h30m", 0, "0"].map((written) => intervalMinutes().parse(written))).toEqual([
      1_800_000, 1_800_000, 5_400_000, 0, 0,
    ]);
    for (const bad of [-1, "often", "367d"]) expect(intervalMinutes().safeParse(bad).success).toBe(false);
  });
});

describe("a size", () => {
  test.each([
    ["1b", 1],
    ["1kb", 1_000],
    ["1.5mb", 1_500_000],
    ["20 MB", 20_000_000],
    ["2gb", 2_000_000_000],
    ["1tb", undefined],
    ["20", undefined],
    ["kb", undefined],
  ])("%j is %j bytes", (text, bytes) => {
    expect(parseSize(text)).toBe(bytes);
  });

  test("has bounds, in either form", () => {
    const schema = sizeBytes(1_000, 2_000);
    for (const good of [1_000, 2_000, "1kb", "2kb"]) expect(schema.safeParse(good).success).toBe(true);
    for (const bad of [999, 2_001, "3kb", "0.9kb", 1_000.5]) expect(schema.safeParse(bad).success).toBe(false);
  });

  test("may be a share of another", () => {
    const schema = sizeOrShare(1, 1_000);
    expect([schema.parse("80%"), schema.parse("1kb"), schema.parse(5)]).toEqual(["80%", 1_000, 5]);
    for (const bad of ["0%", "101%", "80", "2kb"]) expect(schema.safeParse(bad).success).toBe(false);
  });
});
