import { beforeEach, describe, expect, test } from "vitest";
import { createLogger, type LogRecord } from "../process/logger.ts";
import { createPluginFaults, type PluginFaults } from "./plugin-faults.ts";

const minute = 60_000;
let now: number;
let degraded: string[];
let logs: LogRecord[];
let faults: PluginFaults;
beforeEach(() => {
  now = 0;
  degraded = [];
  logs = [];
  faults = createPluginFaults({
    monotonic: () => now,
    logger: createLogger([(record) => logs.push(record)]),
    degrade: (plugin, code) => degraded.push(`${plugin} ${code}`),
  });
});
const failAt = (times: number[], plugin = "a") => {
  for (now of times) faults.failed(plugin);
};
const blockAt = (times: number[], what = "rpc.before") => {
  for (now of times) faults.blocked({ ms: 250, owner: { plugin: "a", what }, stack: [] });
};
const spread = (count: number, overMs: number) => Array.from({ length: count }, (_, i) => (i * overMs) / (count - 1));

describe("errors degrade a plugin", () => {
  test.each([
    ["at the twentieth within ten minutes", spread(20, 10 * minute), ["a too-many-errors"]],
    ["not at the nineteenth", spread(19, minute), []],
    ["not when the first of twenty is older than ten minutes", spread(20, 10 * minute + 1), []],
    ["again at the fortieth", spread(40, minute), ["a too-many-errors", "a too-many-errors"]],
  ])("%s", (_, times, told) => {
    failAt(times);
    expect(degraded).toEqual(told);
  });

  test("each by its own count", () => {
    failAt(spread(19, minute), "a");
    failAt(spread(19, minute), "b");
    expect(degraded).toEqual([]);
  });
});

describe("stalls degrade a plugin", () => {
  test.each([
    ["at the third within a minute", [0, 30_000, minute], ["a blocks-event-loop"]],
    ["not at the second", [0, 1], []],
    ["not when the first of three is older than a minute", [0, 30_000, minute + 1], []],
  ])("%s", (_, times, told) => {
    blockAt(times);
    expect(degraded).toEqual(told);
  });

  test("but not by its import, which compiles", () => {
    blockAt([0, 1, 2, 3], "import");
    expect(degraded).toEqual([]);
    expect(logs.map((l) => l.level)).toEqual(["debug", "debug", "debug", "debug"]);
  });
});

test("a stall without an owner is a warning from two seconds on", () => {
  faults.blocked({ ms: 1_999, stack: [] });
  faults.blocked({ ms: 2_000, stack: ["parse a.ts:1"] });
  expect(logs.map((l) => [l.level, l.message])).toEqual([
    ["debug", "the event loop was blocked for 1999 ms by code that could not be identified"],
    ["warn", "the event loop was blocked for 2000 ms by code that could not be identified"],
  ]);
  expect(logs[1]?.fields).toMatchObject({ stack: ["parse a.ts:1"] });
});

test("a stall of ten seconds is a part of health that is not ok, for five minutes", () => {
  faults.blocked({ ms: 9_999, stack: [] });
  expect(faults.parts()).toEqual([]);
  faults.blocked({ ms: 10_000, stack: [] });
  now = 5 * minute - 1;
  expect(faults.parts()).toMatchObject([{ part: "eventLoopStall", ok: false, critical: true }]);
  now = 5 * minute;
  expect(faults.parts()).toEqual([]);
});
