import { expect, test } from "vitest";
import { findingsOf } from "./doctor.ts";

const report = { mode: "warn" as const, expired: 5, surplus: 5, archives: 0, forSpace: 0, usedBytes: 10, maxDiskBytes: 10 };
const ids = (change: Partial<typeof report>, isEnforced = false) => findingsOf({ ...report, ...change }, isEnforced).map(({ id }) => id);

test("old archives that nobody deletes and too much disk space are findings; what is at the limit is none", () => {
  expect(ids({})).toEqual([]);
  expect(ids({ archives: 1 })).toEqual(["sessions/orphans"]);
  expect(ids({ archives: 1 }, true)).toEqual([]);
  expect(ids({ usedBytes: 11 }, true)).toEqual(["sessions/disk"]);
});
