import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { eventually } from "../testing/eventually.ts";
import { consoleSink, createLogger, fileSink, type LogLevel, type LogRecord, logLevels } from "./logger.ts";

function recorder() {
  const records: LogRecord[] = [];
  const logger = createLogger([(r) => records.push(r)], () => 0);
  return { records, logger, text: () => JSON.stringify(records) };
}

describe("a secret is taken out", () => {
  test("of messages, fields, lists, nested values, child loggers and errors", () => {
    const { logger, text } = recorder();
    logger.addSecret("hunter2-long");
    logger.info("it is hunter2-long, I say hunter2-long");
    logger.child("x").warn("m", { plain: "a hunter2-long b", list: ["hunter2-long"], deep: { er: { value: "hunter2-long" } } });
    logger.error("failed", { error: new Error("wrong: hunter2-long") });
    expect(text()).not.toContain("hunter2-long");
    expect(text().match(/\[redacted\]/g)?.length).toBeGreaterThanOrEqual(6);
  });

  test("however deep it lies", () => {
    const { logger, text } = recorder();
    logger.addSecret("hunter2-long");
    let nested: unknown = { value: "hunter2-long" };
    for (let i = 0; i < 20; i++) nested = { nested };
    logger.info("m", { nested });
    expect(text()).not.toContain("hunter2-long");
  });

  test("when it begins like another secret", () => {
    const { logger, records } = recorder();
    logger.addSecret("abcdef");
    logger.addSecret("abcdefghi");
    logger.info("abcdefghi abcdef");
    expect(records[0]?.message).toBe("[redacted] [redacted]");
  });

  test.each(["token", "Token", "accessToken", "api_key", "apiKey", "x-api-key", "Authorization", "cookie", "clientSecret", "credentials"])(
    "by its name: %s",
    (name) => {
      const { logger, records } = recorder();
      logger.info("m", { [name]: "anything", headers: { [name]: ["anything"] } });
      expect(records[0]?.fields).toEqual({ [name]: "[redacted]", headers: { [name]: "[redacted]" } });
    },
  );

  test("of authorization headers that were never announced", () => {
    const { logger, records } = recorder();
    logger.info("sent Bearer abcdefghijkl and basic QWxhZGRpbjpvcGVu");
    expect(records[0]?.message).toBe("sent Bearer [redacted] and basic [redacted]");
  });
});

test("counts and short words stay readable", () => {
  const { logger, records } = recorder();
  logger.addSecret("abc");
  logger.addSecret(undefined);
  logger.info("abc of tokens", { tokens: 812, secret: true, maxTokens: 5 });
  expect(records[0]).toMatchObject({ message: "abc of tokens", fields: { tokens: 812, secret: true, maxTokens: 5 } });
});

test("a record knows its subsystem, level and time", () => {
  const { logger, records } = recorder();
  logger.child("hooks").child("a").debug("m");
  expect(records).toEqual([{ ts: 0, level: "debug", subsystem: "gateway/hooks/a", message: "m" }]);
});

test("a log call never throws, whatever it is given", () => {
  const { logger, records } = recorder();
  const cyclic: Record<string, unknown> = { big: 10n, list: Array.from({ length: 500 }, (_, i) => i) };
  cyclic.self = cyclic;
  logger.info("m", { cyclic, nothing: undefined, fn: () => 1 });
  expect(() => JSON.stringify(records)).not.toThrow();
  expect(records[0]?.fields).toMatchObject({ cyclic: { big: "10", list: expect.objectContaining({ length: 100 }) } });
});

test("after it is closed it writes nothing, and so no secret either", () => {
  const { logger, records } = recorder();
  logger.addSecret("hunter2-long");
  logger.close();
  logger.info("hunter2-long");
  expect(records).toEqual([]);
});

describe("the console", () => {
  const lines = (level: LogLevel, write: (logger: ReturnType<typeof createLogger>) => void) => {
    let out = "";
    write(createLogger([consoleSink({ write: (text) => (out += text) }, () => level)], () => new Date(2026, 0, 2, 3, 4, 5).getTime()));
    return out;
  };

  test("shows time, level, subsystem, message and fields", () => {
    expect(lines("info", (l) => l.child("hooks").warn("text", { a: 1, b: "two", c: { d: 3 } }))).toBe(
      '03:04:05 warn  [gateway/hooks] text a=1 b=two c={"d":3}\n',
    );
  });

  test.each(logLevels)("at level %s shows that and what is worse", (level) => {
    const out = lines(level, (l) => {
      l.debug("debug");
      l.info("info");
      l.warn("warn");
      l.error("error");
    });
    const shown = out.split("\n").flatMap((line) => line.split(" ")[1] ?? []);
    const order = ["debug", "info", "warn", "error"];
    const least = level === "silent" || level === "fatal" ? 4 : Math.max(0, order.indexOf(level));
    expect(shown).toEqual(order.slice(least));
  });

  test("neither lets text forge a line nor drive the terminal", () => {
    const out = lines("info", (l) =>
      l.info("name\r\n03:04:05 error [gateway] forged", { who: "a\u001b[2J\u0007\u009b\u202eb", x: "1\n2" }),
    );
    expect(out.split("\n").filter(Boolean)).toEqual([
      "03:04:05 info  [gateway] name",
      "    03:04:05 error [gateway] forged who=a\uFFFD[2J\uFFFD\uFFFD\uFFFDb x=1",
      "    2",
    ]);
  });
});

describe("the log file", () => {
  let dir: string;
  afterEach(() => rm(dir, { recursive: true, force: true }));
  const read = async (name: string) =>
    (await readFile(join(dir, "logs", name), "utf8"))
      .split("\n")
      .filter(Boolean)
      .map((l) => JSON.parse(l));

  test("is JSON lines in a file a day, for its owner only", async () => {
    dir = await mkdtemp(join(tmpdir(), "svc-log-"));
    let now = Date.UTC(2026, 2, 1, 23, 59, 59);
    const sink = fileSink(join(dir, "logs"), () => "info");
    const logger = createLogger([sink], () => now);
    logger.debug("too fine");
    logger.info("before", { a: 1 });
    now += 2_000;
    logger.error("after midnight\nsecond line");
    sink.close();

    await eventually(async () => (await read("gateway-2026-03-02.jsonl")).length === 1);
    expect(await read("gateway-2026-03-01.jsonl")).toEqual([
      { ts: Date.UTC(2026, 2, 1, 23, 59, 59), level: "info", subsystem: "gateway", message: "before", fields: { a: 1 } },
    ]);
    expect(await read("gateway-2026-03-02.jsonl")).toMatchObject([{ message: "after midnight\nsecond line" }]);
    expect((await stat(join(dir, "logs"))).mode & 0o777).toBe(0o700);
    for (const name of await readdir(join(dir, "logs"))) expect((await stat(join(dir, "logs", name))).mode & 0o777).toBe(0o600);
  });

  test("that cannot be made stops nobody", async () => {
    dir = await mkdtemp(join(tmpdir(), "svc-log-"));
    await writeFile(join(dir, "logs"), "a file stands in the way");
    const logger = createLogger([fileSink(join(dir, "logs"), () => "info")]);
    expect(() => {
      logger.info("one");
      logger.info("two");
    }).not.toThrow();
  });

  test("whose place is taken by a folder stops nobody", async () => {
    dir = await mkdtemp(join(tmpdir(), "svc-log-"));
    await mkdir(join(dir, "logs", "gateway-1970-01-01.jsonl"), { recursive: true });
    const sink = fileSink(join(dir, "logs"), () => "info");
    createLogger([sink], () => 0).info("one");
    await new Promise((resolve) => setImmediate(resolve));
    createLogger([sink], () => 0).info("two");
    sink.close();
  });
});

test("a level that changes counts from the next record on", () => {
  let out = "";
  let level: LogLevel = "warn";
  const logger = createLogger([consoleSink({ write: (text) => (out += text) }, () => level)]);
  logger.info("too early");
  level = "debug";
  logger.debug("just in time");
  level = "silent";
  logger.error("too late");
  expect(out).toContain("just in time");
  expect(out).not.toMatch(/too early|too late/);
});
