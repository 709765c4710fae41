import { expect, test } from "vitest";
import ciFailure from "./hooks/transforms/ci-failure.ts";

const notice = { project: "tidemark", branch: "main", status: "failed", jobs: [{ name: "unit", status: "failed" }] };
const run = (payload: unknown) => ciFailure({ payload, headers: {}, url: new URL("http://127.0.0.1/hooks/ci"), path: "ci" });

test("a failed build of main becomes a task", () => {
  expect(run(notice)).toMatchObject({ name: "Build of tidemark" });
  expect(run(notice)?.message).toContain("failed on main in unit.");
});

test("many failed jobs are counted after the fifth", () => {
  const jobs = Array.from({ length: 7 }, (_, i) => ({ name: `job-${i}`, status: "failed" }));

  expect(run({ ...notice, jobs })?.message).toContain("job-4 and 2 more.");
});

test("builds that passed and other branches are skipped", () => {
  expect(run({ ...notice, status: "passed" })).toBeNull();
  expect(run({ ...notice, branch: "try-this" })).toBeNull();
});

test.each([null, "text", {}, { ...notice, status: "odd" }, { ...notice, jobs: "unit" }])("%j is refused", (payload) => {
  expect(() => run(payload)).toThrow("expected a build notice");
});
