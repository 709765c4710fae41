import { describe, expect, test } from "vitest";
import { toLogLine } from "../../kernel/process/log-line.ts";
import { formatLogLine, isWantedLogLine, parseLogLine } from "../../plugins/operator/cli/log-view.ts";

const at = new Date(2026, 2, 1, 12, 3, 44, 120);
const written = (change: object = {}) =>
  parseLogLine(toLogLine({ ts: at.getTime(), level: "info", subsystem: "gateway/hooks", message: "accepted wake", ...change }, 7).trim());

test("a line of ours is read into its parts", () => {
  expect(written({ fields: { name: "mail", ms: 3 } })).toEqual({
    type: "log",
    ts: at.toISOString(),
    level: "info",
    subsystem: "gateway/hooks",
    message: "accepted wake",
    fields: { pid: 7, name: "mail", ms: 3 },
  });
});

test.each(["", "plain text", "[]", "null", "{}", '{"ts":"never","level":"info","subsystem":"a","msg":"b"}', '{"ts":1,"msg":"x"}'])(
  "%j is a raw line",
  (line) => {
    expect(parseLogLine(line)).toEqual({ type: "raw", line });
    expect(formatLogLine(parseLogLine(line))).toBe(line);
  },
);

test("a line of somebody else's that is nested too deeply is a raw line", () => {
  const head = '{"ts":"2026-03-01T12:00:00Z","level":"info","subsystem":"a","msg":"b","x":';
  const line = `${head}${"[".repeat(20_000)}${"]".repeat(20_000)}}`;
  expect(formatLogLine(parseLogLine(line))).toBe(line);
});

describe("a line is shown", () => {
  test("with the local time, the level and its own fields", () => {
    expect(formatLogLine(written({ fields: { name: "mail", ids: [1] } }))).toBe(
      "12:03:44 info  [gateway/hooks] accepted wake name=mail ids=[1]",
    );
  });

  test("with the time in UTC, and its level in colour", () => {
    const shown = formatLogLine(written({ level: "error" }), { utc: true, paint: { error: (text) => `<${text}>` } });
    expect(shown).toBe(`${at.toISOString()} <error> [gateway/hooks] accepted wake`);
  });

  test("with what an error says, not with its stack", () => {
    const err = { name: "Error", message: "no disk", stack: "Error: no disk\n at x" };
    expect(formatLogLine(written({ err }))).toBe("12:03:44 info  [gateway/hooks] accepted wake error=no disk");
  });

  test("so that its text forges no other line and drives no terminal", () => {
    const shown = formatLogLine(written({ message: "a\n12:00:00 error [x] b\u001b[2J\u202e" }));
    expect(shown).toBe("12:03:44 info  [gateway/hooks] a\n    12:00:00 error [x] b\\u001b[2J\\u202e");
    expect(formatLogLine(parseLogLine("a\u001b[2J"))).toBe("a\\u001b[2J");
  });
});

test.each([
  [{}, true],
  [{ level: "info" }, true],
  [{ level: "debug" }, true],
  [{ level: "warn" }, false],
  [{ subsystem: "gateway" }, true],
  [{ subsystem: "hooks" }, true],
  [{ subsystem: "gateway/hooks" }, true],
  [{ subsystem: "hook" }, false],
  [{ subsystem: "gateway/hooks/mail" }, false],
  [{ subsystem: "hooks", level: "error" }, false],
] as const)("a line of gateway/hooks at info passes %j: %s", (wish, passes) => {
  expect(isWantedLogLine(written(), wish)).toBe(passes);
});

test("a raw line passes only without a wish", () => {
  const line = parseLogLine("x");
  expect(isWantedLogLine(line, {})).toBe(true);
  expect(isWantedLogLine(line, { level: "trace" })).toBe(false);
  expect(isWantedLogLine(line, { subsystem: "gateway" })).toBe(false);
});
