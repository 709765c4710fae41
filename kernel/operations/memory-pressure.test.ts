import { expect, test } from "vitest";
import type { MemoryStage } from "../../sdk/types/gateway.ts";
import { createMemoryPressure, isAtLeast, processMemory, stageFor } from "./memory-pressure.ts";

test.each<[number, MemoryStage, MemoryStage]>([
  [0.69, "none", "none"],
  [0.7, "none", "background"],
  [0.66, "background", "background"],
  [0.64, "background", "none"],
  [0.79, "background", "background"],
  [0.8, "background", "work"],
  [0.76, "work", "work"],
  [0.74, "work", "background"],
  [0.9, "work", "restart"],
  [0.95, "none", "restart"],
  [0.86, "restart", "restart"],
  [0.84, "restart", "work"],
  [0.5, "restart", "none"],
])("at %d of the limit, after the stage %s, the stage is %s", (share, present, stage) => {
  expect(stageFor(share, present)).toBe(stage);
});

test("the stages are in order", () => {
  expect([isAtLeast("work", "background"), isAtLeast("work", "work"), isAtLeast("background", "work")]).toEqual([true, true, false]);
});

function watch(bornMs = 60_000) {
  let uptimeMs = bornMs;
  const said: string[] = [];
  const gauge = { limitBytes: 1_000_000_000, rssBytes: () => gauge.now, now: 0 };
  const pressure = createMemoryPressure({
    gauge,
    uptimeMs: () => uptimeMs,
    onStage: (stage, message) => said.push(`${stage}: ${message}`),
    onExhausted: (message) => said.push(`exhausted: ${message}`),
  });
  const look = (megabytes: number, afterMs = 5_000) => {
    uptimeMs += afterMs;
    gauge.now = megabytes * 1_000_000;
    pressure.look();
    return said.splice(0);
  };
  return { look, pressure };
}

test("each stage is told once, with figures and with what it means; health shows it as long as it lasts", () => {
  const { look, pressure } = watch();
  expect(look(500)).toEqual([]);
  expect(pressure.parts()).toEqual([]);
  expect(look(710)).toEqual(["background: the process uses 710 of 1000 MB (71 %): indexing of notes pauses"]);
  expect(look(720)).toEqual([]);
  expect(look(850)).toEqual([expect.stringMatching(/^work: .*\(85 %\): .*new runs and connections from other machines are refused/)]);
  expect(pressure.parts()).toEqual([
    {
      part: "memoryPressure",
      ok: false,
      value: { stage: "work", rssBytes: 850_000_000, limitBytes: 1_000_000_000 },
      message: expect.stringContaining("85 %"),
    },
  ]);
  expect(look(300)).toEqual([expect.stringMatching(/^none: .*everything runs again/)]);
  expect(pressure.parts()).toEqual([]);
});

test("a peak ends nothing; what lasts for five seconds does, once", () => {
  const { look } = watch();
  expect(look(950)).toEqual([expect.stringMatching(/^restart/)]);
  expect(look(100)).toEqual([expect.stringMatching(/^none/)]);
  expect(look(950)).toEqual([expect.stringMatching(/^restart/)]);
  expect(look(950, 4_999)).toEqual([]);
  expect(look(950, 1)).toEqual([expect.stringMatching(/^exhausted: .*95 %/)]);
  expect(look(950)).toEqual([]);
});

test("a gateway that has just begun does not restart over and over", () => {
  const { look } = watch(0);
  look(950);
  expect(look(950, 54_999)).toEqual([]);
  expect(look(950, 1)).toHaveLength(1);
});

test("without a limit of the system 1.5 GB count", () => {
  const { rssBytes, limitBytes } = processMemory();
  expect(rssBytes()).toBeGreaterThan(10_000_000);
  expect(limitBytes).toBeGreaterThan(100_000_000);
});
