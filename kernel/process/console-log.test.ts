import { describe, expect, test } from "vitest";
import { type LogLevel, logLevels } from "../../sdk/log-levels.ts";
import { type ConsoleOptions, type ConsoleStyle, consoleSink } from "./console-log.ts";
import { createLogger } from "./logger.ts";

type Write = (logger: ReturnType<typeof createLogger>) => void;

function shown(options: Partial<ConsoleOptions> & { isTTY?: boolean }, write: Write): string {
  let out = "";
  const stream = { write: (text: string) => (out += text), isTTY: options.isTTY ?? false };
  write(createLogger([consoleSink(stream, { level: () => "info", ...options })], () => new Date(2026, 0, 2, 3, 4, 5).getTime()));
  return out;
}
const style = (name: ConsoleStyle) => ({ style: () => name });
const warning: Write = (l) => l.child("hooks").warn("text", { a: 1, b: "two", c: { d: 3 } });

describe("a line", () => {
  test("pretty: time, padded level, subsystem, message and fields", () => {
    expect(shown(style("pretty"), warning)).toBe('03:04:05 warn  [gateway/hooks] text a=1 b=two c={"d":3}\n');
  });

  test("compact: the same without padding", () => {
    expect(shown(style("compact"), warning)).toBe('03:04:05 warn [gateway/hooks] text a=1 b=two c={"d":3}\n');
  });

  test("json: the line of the log file", () => {
    expect(JSON.parse(shown(style("json"), warning))).toEqual({
      ts: new Date(2026, 0, 2, 3, 4, 5).toISOString(),
      level: "warn",
      subsystem: "gateway/hooks",
      msg: "text",
      pid: process.pid,
      a: 1,
      b: "two",
      c: { d: 3 },
    });
  });

  test.each([
    [true, "03:04:05 warn  ["],
    [false, "03:04:05 warn ["],
  ])("without a configured style is pretty on a terminal, else compact: terminal %s", (isTTY, start) => {
    expect(shown({ isTTY }, warning).startsWith(start)).toBe(true);
  });

  test("is coloured on a terminal only, and only when pretty", () => {
    const paint = { warn: (text: string) => `<${text}>` };
    expect(shown({ isTTY: true, paint }, warning)).toContain("03:04:05 <warn > [");
    expect(shown({ isTTY: false, paint, ...style("pretty") }, warning)).not.toContain("<");
    expect(shown({ isTTY: true, paint, ...style("compact") }, warning)).not.toContain("<");
  });
});

describe("text from outside neither forges a line nor drives the terminal", () => {
  const forged: Write = (l) => l.info("name\r\n03:04:05 error [gateway] forged", { who: "a\u001b[2J\u0007\u009b\u202eb", x: "1\n2" });
  const cleaned = "forged who=a\\u001b[2J\\u0007\\u009b\\u202eb x=1";

  test("pretty: later lines are indented", () => {
    expect(shown(style("pretty"), forged).split("\n").filter(Boolean)).toEqual([
      "03:04:05 info  [gateway] name",
      `    03:04:05 error [gateway] ${cleaned}`,
      "    2",
    ]);
  });

  test("compact: there is one line a record", () => {
    expect(shown(style("compact"), forged)).toBe(`03:04:05 info [gateway] name\\n03:04:05 error [gateway] ${cleaned}\\n2\n`);
  });
});

test.each(logLevels)("at level %s that is shown and what is worse", (level) => {
  const out = shown({ level: () => level }, (l) => {
    l.debug("debug");
    l.info("info");
    l.warn("warn");
    l.error("error");
  });
  const order = ["debug", "info", "warn", "error"];
  const least = level === "silent" || level === "fatal" ? 4 : Math.max(0, order.indexOf(level));
  expect(out.split("\n").flatMap((line) => line.split(" ")[1] ?? [])).toEqual(order.slice(least));
});

test("a level and a style that change count from the next record on", () => {
  let level: LogLevel = "warn";
  let form: ConsoleStyle = "pretty";
  const out = shown({ level: () => level, style: () => form }, (l) => {
    l.info("too early");
    level = "debug";
    l.debug("just in time");
    form = "json";
    l.debug("as json");
    level = "silent";
    l.error("too late");
  });
  expect(out).toMatch(/debug \[gateway\] just in time\n\{.*"msg":"as json"/);
  expect(out).not.toMatch(/too early|too late/);
});
