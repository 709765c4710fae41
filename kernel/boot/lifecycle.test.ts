import { expect, test } from "vitest";
import { drainBudgetMs } from "./lifecycle.ts";

test.each([
  ["as configured", 20_000, undefined, undefined, 20_000],
  ["within what the supervisor allows, with time to close", 20_000, undefined, "12000", 7_000],
  ["not longer because the supervisor would allow it", 20_000, undefined, "60000", 20_000],
  ["none where the supervisor allows no time", 20_000, undefined, "3000", 0],
  ["as the restart was asked for", 20_000, 10_000, undefined, 10_000],
  ["two seconds for pending sends, however hurried it is", 20_000, 0, undefined, 2_000],
  ["not longer than configured because a restart could wait", 20_000, 600_000, undefined, 20_000],
  ["as configured where the variable is no number", 20_000, undefined, "soon", 20_000],
])("a stop drains %s", (_, drainMs, waitMs, allowed, budget) => {
  expect(drainBudgetMs({ drainMs, waitMs, env: { SVC_STOP_TIMEOUT_MS: allowed } })).toBe(budget);
});
