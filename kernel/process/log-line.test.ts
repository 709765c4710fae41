import { describe, expect, test } from "vitest";
import { toLogLine } from "./log-line.ts";
import type { LogRecord } from "./logger.ts";

const record: LogRecord = { ts: Date.UTC(2026, 2, 1, 12, 3, 44, 120), level: "info", subsystem: "gateway/hooks", message: "text" };
const parsed = (more: Partial<LogRecord>) => JSON.parse(toLogLine({ ...record, ...more }, 7));

describe("a line of the log file", () => {
  test("is one JSON object with time, level, subsystem, message, process and fields", () => {
    expect(toLogLine({ ...record, message: "a\nb", fields: { n: 1 } }, 7)).toBe(
      '{"ts":"2026-03-01T12:03:44.120Z","level":"info","subsystem":"gateway/hooks","msg":"a\\nb","pid":7,"n":1}\n',
    );
  });

  test("names the plugin it comes from", () => {
    expect(parsed({ subsystem: "gateway/plugin/store/vacuum" })).toMatchObject({ plugin: "store" });
    expect(parsed({})).not.toHaveProperty("plugin");
  });

  test("has an error in parts, once", () => {
    const err = { name: "Error", message: "m", stack: "s" };
    expect(parsed({ err, fields: { error: "s", n: 1 } })).toMatchObject({ err, n: 1 });
    expect(parsed({ err, fields: { error: "s" } })).not.toHaveProperty("error");
    expect(parsed({ fields: { error: "a text" } })).toMatchObject({ error: "a text" });
  });

  test("keeps its own names: a field of the same name stands beside them", () => {
    expect(parsed({ fields: { level: "fake", pid: 0, n: 1 } })).toMatchObject({
      level: "info",
      pid: 7,
      n: 1,
      fields: { level: "fake", pid: 0 },
    });
  });

  test.each([
    ["message", { message: "\u20ac".repeat(60_000) }],
    ["fields", { fields: { big: "x".repeat(70_000) } }],
    ["control characters", { message: "\u0001".repeat(60_000) }],
  ])("is at most 64 KiB long, and says so when something was cut: %s", (_what, more) => {
    const line = toLogLine({ ...record, ...more }, 7);
    expect(Buffer.byteLength(line)).toBeLessThanOrEqual(65_536);
    expect(JSON.parse(line)).toMatchObject({ subsystem: "gateway/hooks", truncated: true });
  });
});
