import { expect, test } from "vitest";
import { createBodyGate } from "./body-gate.ts";

test("one address has room for 16 bodies, and a place that is given back is free again", () => {
  const gate = createBodyGate();
  const leave = Array.from({ length: 16 }, () => gate.enter("192.0.2.1"));
  expect(leave.every((one) => one !== undefined)).toBe(true);
  expect(gate.enter("192.0.2.1")).toBeUndefined();

  leave[3]?.();

  expect(gate.enter("::ffff:192.0.2.1")).toBeDefined();
  expect(gate.enter("192.0.2.1")).toBeUndefined();
});

test("who fills its own places keeps nobody else out, until there are 64 in all", () => {
  const gate = createBodyGate();
  for (const address of ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"]) {
    for (let i = 0; i < 16; i++) expect(gate.enter(address)).toBeDefined();
  }

  expect(gate.enter("192.0.2.5")).toBeUndefined();
});
