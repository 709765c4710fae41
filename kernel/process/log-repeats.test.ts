import { describe, expect, test } from "vitest";
import { collapseRepeats } from "./log-repeats.ts";
import type { LogRecord } from "./logger.ts";

function collapsed() {
  const out: LogRecord[] = [];
  const clock = { ms: 0 };
  const sink = collapseRepeats(
    (record) => out.push(record),
    () => clock.ms,
  );
  const log = (message: string, times = 1) => {
    for (let i = 0; i < times; i++) sink({ ts: clock.ms, level: "info", subsystem: "s", message, fields: { i } });
  };
  return { out, clock, sink, log };
}

describe("identical messages", () => {
  test("pass five times in ten seconds; the rest is one record with its number", () => {
    const { out, clock, sink, log } = collapsed();
    log("same", 12);
    log("other");
    expect(out).toHaveLength(6);
    clock.ms = 10_000;
    log("same");
    expect(out.slice(6)).toMatchObject([
      { message: "same", fields: { i: 11, repeated: 7 } },
      { message: "same", fields: { i: 0 } },
    ]);
    sink.close();
    expect(out).toHaveLength(8);
  });

  test("that are held back are not lost at the end", () => {
    const { out, sink, log } = collapsed();
    log("same", 6);
    sink.close();
    expect(out.at(-1)).toMatchObject({ message: "same", fields: { repeated: 1 } });
    log("same");
    expect(out.at(-1)?.fields).toEqual({ i: 0 });
  });

  test("are told apart by level and subsystem, and only so many are remembered", () => {
    const { out, sink, log } = collapsed();
    log("first", 7);
    for (let i = 0; i < 1_000; i++) log(`m${i}`);
    expect(out.filter(({ message }) => message === "first").at(-1)?.fields).toMatchObject({ repeated: 2 });
    sink({ ts: 0, level: "error", subsystem: "s", message: "m999" });
    expect(out.at(-1)?.level).toBe("error");
    sink.close();
  });
});
