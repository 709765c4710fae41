import { describe, expect, test } from "vitest";
import { each, issuesAt } from "./_config.ts";

/** Values by dotted path. */
export type Table = ReadonlyArray<readonly [path: string, ...values: unknown[]]>;

/** Every value of `good` is taken; every value of `bad` is refused with this very key named. */
export function bounds(section: string, { good, bad }: { good: Table; bad: Table }): void {
  describe(section, () => {
    test.each(each(good))("%s may be %j", (path, value) => {
      expect(issuesAt(path, value)).toEqual([]);
    });

    test.each(each(bad))("%s may not be %j", (path, value) => {
      const issues = issuesAt(path, value);
      expect(issues.length).toBeGreaterThan(0);
      expect(issues[0]?.message).toMatch(/expected|unknown|not valid|not allowed|cannot/);
    });
  });
}
