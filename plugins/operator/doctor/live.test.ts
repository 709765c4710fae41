import { expect, test } from "vitest";
import { healthFindings } from "./live.ts";

const well = { ok: true, plugins: { errors: [] } };

test("what a running gateway says of itself is a finding; what left a notice is told by that", () => {
  expect(healthFindings(well)).toEqual([]);
  const problems = { store: "the disk is full", clock: "c", safeMode: "s", stateHistory: "h", "plugin:x": "p" };
  expect(healthFindings({ ...well, ok: false, problems })).toEqual([
    { id: "gateway/problem", severity: "error", message: "store: the disk is full" },
  ]);
  expect(healthFindings({ ...well, problems: { memoryPressure: "m" } })).toEqual([
    { id: "gateway/problem", severity: "warning", message: "memoryPressure: m", fix: "svc gateway restart" },
  ]);
});

test("of plugins that failed the one is named that the others wait for", () => {
  const errors = [
    { id: "agents", error: 'plugin "store" is failed: no' },
    { id: "store", error: "no" },
  ];
  expect(healthFindings({ ok: false, plugins: { errors } })).toMatchObject([
    { severity: "error", message: "plugin store does not run: no" },
  ]);
});
