import { describe, expect, test } from "vitest";
import type { LogLevel } from "../../sdk/log-levels.ts";
import { createLogger, type LogRecord } from "./logger.ts";

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

test("an error keeps its parts beside its stack, redacted like everything else", () => {
  const { logger, records } = recorder();
  logger.addSecret("hunter2-long");
  logger.error("failed", { error: Object.assign(new RangeError("wrong: hunter2-long"), { code: "E_RANGE" }), other: 1 });
  expect(records[0]?.err).toEqual({
    name: "RangeError",
    message: "wrong: [redacted]",
    code: "E_RANGE",
    stack: expect.stringContaining("logger.test.ts"),
  });
  expect(String(records[0]?.fields?.error)).toContain("wrong: [redacted]");
});

describe("the operator's patterns", () => {
  const patterned = (...patterns: string[]) => {
    const made = recorder();
    made.logger.redactWith(() => patterns);
    return made;
  };

  test("mask what they match, everywhere in a record and wherever it occurs", () => {
    const { logger, text, records } = patterned("acme-\\d+", "^pin:.*$");
    logger.child("x").info("acme-12 and acme-345", { plain: "pin: abcdefg", deep: { list: ["is acme-7"] }, error: new Error("no acme-8") });
    expect(text()).not.toMatch(/acme-\d|abcdefg/);
    expect(records[0]).toMatchObject({
      message: "[redacted] and [redacted]",
      fields: { plain: "[redacted]", deep: { list: ["is [redacted]"] } },
      err: { message: "no [redacted]" },
    });
  });

  test("that change count from the next record on", () => {
    const { logger, records } = recorder();
    let patterns: string[] = [];
    logger.redactWith(() => patterns);
    logger.info("acme-1");
    patterns = ["acme-\\d"];
    logger.info("acme-1");
    patterns = [];
    logger.info("acme-1");
    expect(records.map((r) => r.message)).toEqual(["acme-1", "[redacted]", "acme-1"]);
  });

  test.each([["(a|a)*$"], ["a*a*a*a*x"]])("that would run without end are stopped, and the texts are masked whole: %s", (pattern) => {
    const { logger, records } = patterned(pattern);
    const evil = `${"a".repeat(20_000)}b`;
    logger.info(evil, { evil, n: 1 });
    expect(records[0]).toMatchObject({ message: "[redacted]", fields: { evil: "[redacted]", n: 1 } });
    logger.info("b");
    expect(records[1]?.message).toContain("b");
  });

  test.each(["x*", "(", ""])("that match nothing, or are none, change nothing: %j", (pattern) => {
    const { logger, records } = patterned(pattern);
    logger.info("plain");
    expect(records[0]?.message).toBe("plain");
  });
});

test("below the least level nothing is made: fields of debug and trace lines cost no work when they are off", () => {
  const records: LogRecord[] = [];
  let least: LogLevel = "info";
  let made = 0;
  const logger = createLogger(
    [(r) => records.push(r)],
    () => 0,
    () => least,
  );
  const fields = () => ({ made: ++made, token: "very-secret-value" });
  for (let i = 0; i < 1_000; i++) {
    logger.debug("step", fields);
    logger.child("port").trace("frame", fields);
  }
  expect([made, records.length]).toEqual([0, 0]);

  least = "trace";
  logger.child("port").trace("frame", fields);
  expect(made).toBe(1);
  expect(records).toEqual([
    { ts: 0, level: "trace", subsystem: "gateway/port", message: "frame", fields: { made: 1, token: "[redacted]" } },
  ]);
});

test("a fault in the fields of a debug line stays in that line", () => {
  const records: LogRecord[] = [];
  const fields = () => {
    throw new Error("no such thing");
  };
  createLogger([(r) => records.push(r)], () => 0).debug("step", fields);
  expect(records[0]?.err).toMatchObject({ message: "no such thing" });
});

describe("a log call neither throws nor takes long for what a plugin hands it:", () => {
  const hostile: Array<[string, () => unknown]> = [
    ["a getter that throws", () => Object.defineProperty({}, "body", { enumerable: true, get: () => neverRead() })],
    ["a proxy that answers nothing", () => new Proxy({}, { get: neverRead, ownKeys: neverRead, getPrototypeOf: neverRead })],
    ["a toJSON that throws", () => ({ toJSON: () => neverRead() })],
    ["an object without a prototype", () => Object.create(null)],
    ["an error whose stack is no text", () => Object.assign(new Error("m"), { stack: { no: "text" } })],
    ["an error whose stack throws", () => Object.defineProperty(new Error("m"), "stack", { get: neverRead })],
    ["an error whose message throws", () => Object.defineProperty(new Error("m"), "message", { get: neverRead })],
    ["a symbol", () => Symbol("s")],
  ];
  test.each(hostile)("%s", (_, make) => {
    const { logger, text } = recorder();
    logger.addSecret("hunter2-long");
    logger.error("failed", { error: make(), value: make(), list: [make()] });
    expect(text()).toContain("failed");
  });

  test("an object that leads back to itself by many ways", () => {
    const { logger, records, text } = recorder();
    const graph: Record<string, unknown> = {};
    for (let i = 0; i < 50; i++) graph[`way${i}`] = { graph, list: [graph, graph] };
    const wide: unknown[] = [];
    let level: unknown[] = wide;
    for (let i = 0; i < 7; i++) level = Array.from({ length: 100 }, () => level);

    logger.error("unhandled rejection", { error: graph, level });

    expect(records).toHaveLength(1);
    expect(text()).toContain("[circular]");
    expect(text().length).toBeLessThan(100_000);
  });

  test("bytes and endless texts, in which a secret stays out also where they are cut", () => {
    const { logger, records, text } = recorder();
    logger.addSecret("hunter2-long");
    for (let shift = 0; shift < 50; shift++) logger.info(`${"x".repeat(65_555 - shift)}hunter2-long${"y".repeat(100_000)}`);
    logger.info("body", { body: Buffer.alloc(5_000_000) });
    expect(text()).not.toMatch(/hunter2|unter2-long/);
    expect(text()).not.toMatch(/xh/);
    expect(records.every(({ message }) => message.length < 70_000)).toBe(true);
    expect(records.at(-1)?.fields).toEqual({ body: "[5000000 bytes]" });
  });
});

function neverRead(): never {
  throw new Error("this value cannot be read");
}
