import { describe, expect, test } from "vitest";
import { issuesAt } from "./_config.ts";

/** Values by dotted path. */
export type Table = ReadonlyArray<readonly [path: string, ...values: unknown[]]>;

/** Every value of `good` is taken; every value of `bad` is refused with this very key named. One test for each key. */
export function bounds(section: string, { good, bad }: { good: Table; bad: Table }): void {
  describe(section, () => {
    for (const [path, ...values] of good) {
      test(`${path} may be each of its ${values.length} values`, () => {
        expect(values.length).toBeGreaterThan(0);
        for (const value of values) expect(issuesAt(path, value), JSON.stringify(value)).toEqual([]);
      });
    }

    for (const [path, ...values] of bad) {
      test(`${path} may be none of ${values.length} others`, () => {
        expect(values.length).toBeGreaterThan(0);
        for (const value of values) {
          const issues = issuesAt(path, value);
          expect(issues.length, JSON.stringify(value)).toBeGreaterThan(0);
          expect(issues[0]?.message, JSON.stringify(value)).toMatch(/expected|unknown|not valid|not allowed|cannot/);
        }
      });
    }
  });
}
