import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { repositoryRoot } from "../tools/source/tree.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-times-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function times(...processes: object[]): Promise<{ code: number; stdout: string }> {
  for (const [i, one] of processes.entries())
    await writeFile(
      join(folder, `${i}.jsonl`),
      [one]
        .flat()
        .map((note) => `${JSON.stringify(note)}\n`)
        .join(""),
    );
  return promisify(execFile)(process.execPath, [join(repositoryRoot, ".ci/times.mjs"), folder]).then(
    ({ stdout }) => ({ code: 0, stdout }),
    ({ code, stdout }) => ({ code, stdout }),
  );
}

describe("the time of the tests by project", () => {
  test("is the sum of what its processes used, and the span in which they ran", async () => {
    const { code, stdout } = await times(
      { project: "meta", begun: 1_000, ended: 4_000, cpuSeconds: 2.2 },
      { project: "meta", begun: 2_000, ended: 9_000, cpuSeconds: 5 },
    );
    expect(code).toBe(0);
    expect(stdout).toMatch(/^meta +8 +7 +\d+$/m);
  });

  test("of a process that ran several files is its last sum, and each file is told with what it added", async () => {
    const { stdout } = await times([
      { project: "unit", file: "a.test.ts", begun: 0, ended: 1_000, cpuSeconds: 3 },
      { project: "unit", file: "b.test.ts", begun: 0, ended: 2_000, cpuSeconds: 10 },
    ]);
    expect(stdout).toMatch(/^unit +2 +10 +\d+\n +7 {2}b\.test\.ts\n +3 {2}a\.test\.ts$/m);
  });

  test("fails a run only above twice the budget of CPU seconds", async () => {
    const slow = { project: "meta", begun: 0, ended: 9_000_000, cpuSeconds: 1 };
    expect((await times(slow)).code).toBe(0);
    const wasteful = await times({ ...slow, cpuSeconds: 10_000 });
    expect(wasteful).toMatchObject({ code: 1, stdout: expect.stringContaining("more than twice the budget of CPU seconds: meta") });
  });

  test("has a budget that is longer on a slower machine, by as much as that is slower", async () => {
    const all = { project: "all", begun: 0, ended: 9_000_000 };
    expect((await times({ ...all, cpuSeconds: 6_000, paceMs: 10 })).code).toBe(1);
    expect(await times({ ...all, cpuSeconds: 6_000, paceMs: 81 })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("3.00 times as long"),
    });
    expect((await times({ ...all, cpuSeconds: 7_000, paceMs: 81 })).code).toBe(1);
  });

  test("is left out where nothing was measured", async () => {
    expect(await times()).toEqual({ code: 0, stdout: "" });
  });
});
