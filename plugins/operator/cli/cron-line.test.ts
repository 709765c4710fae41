import { expect, test } from "vitest";
import { cronLine } from "./cron-line.ts";

test("the line about jobs says how many there are, when the next comes, and what is under way", () => {
  const cron = { enabled: true, jobs: 0, running: 0 };
  expect(cronLine(cron, 0)).toBe("0 jobs");
  expect(cronLine({ ...cron, jobs: 1, nextRunAt: 720_000 }, 0)).toBe("1 job, next in 12m");
  expect(cronLine({ ...cron, jobs: 3, running: 2, nextRunAt: 5 }, 10)).toMatch(/^3 jobs, next in 0\w+, 2 running$/);
  expect([cronLine(undefined, 0), cronLine({ ...cron, enabled: false }, 0)]).toEqual([undefined, undefined]);
  expect(cronLine({ ...cron, enabled: false, jobs: 2 }, 0)).toBe("off, 2 jobs");
});
