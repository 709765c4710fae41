import { describe, expect, test } from "vitest";
import { assembleHealth, healthSignature, soundParts } from "./health-snapshot.ts";

const base = { uptimeMs: 5, version: "1", phase: "ready", plugins: { loaded: [] } };
const times = { ts: 1, durationMs: 2 };

test("is ok as long as every critical part is, and names what is not", () => {
  const parts = [
    { part: "store", ok: true, critical: true, value: { queued: 0 } },
    { part: "memoryIndex", ok: false, message: "rebuilding" },
  ];
  expect(assembleHealth(base, parts, times)).toEqual({
    ok: true,
    ...times,
    ...base,
    channels: {},
    channelOrder: [],
    channelLabels: {},
    store: { queued: 0 },
    problems: { memoryIndex: "rebuilding" },
  });
  expect(assembleHealth(base, [{ part: "store", ok: false, critical: true }], times).ok).toBe(false);
});

test("the first owner of a part wins, and nobody owns what the kernel says of itself", () => {
  const parts = ["first", "second"].map((value) => ({ part: "agents", ok: true, value }));
  const forged = ["ok", "phase", "plugins", "ts", "version"].map((part) => ({ part, ok: true, value: "forged" }));
  const health = assembleHealth(base, [...parts, ...forged], times);
  expect(health).toMatchObject({ ok: true, ...times, ...base, agents: "first" });
  expect(JSON.stringify(health)).not.toContain("forged");
});

test("channels come from whoever owns them", () => {
  expect(assembleHealth(base, [{ part: "channels", ok: true, value: { irc: {} } }], times).channels).toEqual({ irc: {} });
});

describe("what plugins report", () => {
  test.each([undefined, null, "text", 5, [], {}, { part: 5, ok: true }])("is dropped when it is no part: %j", (item) => {
    expect(soundParts([item, { part: "a", ok: true }])).toEqual([{ part: "a", ok: true }]);
  });

  test("locks nobody out, whatever it does at a second look", () => {
    let looks = 0;
    const never = () => {
      throw new Error("this part cannot be read");
    };
    const fickle = { toJSON: () => (looks++ > 0 ? never() : "first") };
    const parts = soundParts([
      { part: "fickle", ok: true, value: fickle },
      { part: "said", ok: false, message: { toJSON: never, toString: never } },
      { part: "large", ok: true, value: "x".repeat(2_000_000) },
      new Proxy({}, { get: never }),
      { part: "fine", ok: true, value: 1 },
    ]);
    const health = assembleHealth(base, parts, times);
    expect(JSON.parse(JSON.stringify(health))).toMatchObject({ fickle: "first", fine: 1, problems: { large: expect.any(String) } });
    expect(JSON.stringify(health).length).toBeLessThan(10_000);
  });

  test("is a problem when its value has no JSON form", () => {
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    const [big, loop, fine] = soundParts([
      { part: "big", ok: true, value: 1n },
      { part: "loop", ok: true, critical: true, value: cyclic },
      { part: "fine", ok: true, value: 1 },
    ]);
    expect(big).toEqual({ part: "big", ok: false, message: expect.stringMatching(/^its value cannot be sent: .*BigInt/) });
    expect(loop).toEqual({ part: "loop", ok: false, message: expect.stringMatching(/^its value cannot be sent: [^\n]*$/) });
    expect(fine).toEqual({ part: "fine", ok: true, value: 1 });
  });
});

test("time alone is no change", () => {
  const one = assembleHealth(base, [], times);
  expect(healthSignature({ ...one, ts: 9, durationMs: 9, uptimeMs: 9 })).toBe(healthSignature(one));
  expect(healthSignature({ ...one, ok: false })).not.toBe(healthSignature(one));
});
