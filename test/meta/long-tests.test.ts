import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { isTest, readRepositoryFile, repositoryFiles, repositoryRoot } from "../tools/source/tree.ts";

/** Files of `npm test`, or of `npm run test:long` with `--long`. */
async function filesOf(...args: string[]): Promise<string[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [join(repositoryRoot, "test/run.mjs"), ...args, "--list"]);
  return stdout.trim().split("\n");
}

/** Tests of the examples are run by another test, which treats them as an author's. */
const isOwnTest = (path: string) => isTest(path) && !path.startsWith("examples/");

test("every test file is in npm test or, by its name, in npm run test:long; what has a long form is in both", async () => {
  const [short, long] = await Promise.all([filesOf(), filesOf("--long")]);
  const longOnly = repositoryFiles().filter((path) => path.endsWith(".long.test.ts"));

  expect(longOnly.length).toBeGreaterThan(0);
  expect([...short, ...longOnly].sort()).toEqual(repositoryFiles().filter(isOwnTest).sort());
  expect(longOnly.filter((path) => !long.includes(path))).toEqual([]);
  const hasLongForm = short.filter((path) => /process\.env\.SVC_TEST_LONG/.test(readRepositoryFile(path)));
  expect(hasLongForm.filter((path) => !long.includes(path))).toEqual([]);
});

test("the files of npm run test:long only are named to who contributes, and stand where the runner looks for them", () => {
  const longOnly = repositoryFiles().filter((path) => path.endsWith(".long.test.ts"));
  const nameOf = (path: string) => path.replace(/.*\/|\.long\.test\.ts$/g, "");
  expect(longOnly.filter((path) => !readRepositoryFile("CONTRIBUTING.md").includes(`\`${nameOf(path)}\``))).toEqual([]);
  expect(longOnly.filter((path) => !path.startsWith("test/e2e/"))).toEqual([]);
});
