import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { expect } from "vitest";
import { linkFolder, runTool } from "./_packed.ts";

const run = promisify(execFile);

/** Files that decide what `npm install` puts into the folder of a plugin, and what `npm test` does there. */
const settings = ["package.json", ".npmrc", "vitest.config.ts", "tsconfig.json"];

/** A test file of a plugin, as the runner reports it. */
export interface TestedFile {
  name: string;
  status: string;
  message: string;
  assertionResults: Array<{ fullName: string; status: string }>;
}

export interface TestedPlugins {
  /** Exit code of the runner. */
  code: number;
  files: TestedFile[];
}

/** Runs the tests of several plugins in one process of the runner, which their own `npm test` would each start. Their folders are named `<folder>/<id>`. */
export async function testPlugins(folder: string, ids: readonly string[]): Promise<TestedPlugins> {
  const include = ids.map((id) => `${id}/src/**/*.test.ts`);
  const config = `import own from "./${ids[0]}/vitest.config.ts";
export default { ...own, test: { ...own.test, include: ${JSON.stringify(include)}, isolate: false, maxWorkers: 1 } };`;
  await writeFile(join(folder, "vitest.config.mjs"), config);
  const { code, text } = await runTool("vitest/vitest.mjs", ["run", "--reporter=json", "--outputFile=report.json"], folder);
  const report = await readFile(join(folder, "report.json"), "utf8").catch(() => Promise.reject(new Error(text)));
  return { code, files: (JSON.parse(report) as { testResults: TestedFile[] }).testResults };
}

/** Fails unless the plugin has tests and all of them passed. */
export function expectTested({ code, files }: TestedPlugins, id: string): void {
  const own = files.filter(({ name }) => name.includes(`/${id}/`));
  const tests = own.flatMap(({ assertionResults }) => assertionResults);
  expect(own.filter(({ status }) => status !== "passed").map(({ name, message }) => `${name}: ${message}`)).toEqual([]);
  expect(tests.filter(({ status }) => status !== "passed")).toEqual([]);
  expect(tests.length).toBeGreaterThan(0);
  expect(code).toBe(0);
}

/** Settings of a plugin without its own name, for comparison with those of another. */
export async function settingsOf(folder: string): Promise<Record<string, string>> {
  const texts = settings.map(async (name) => [name, (await readFile(join(folder, name), "utf8")).replaceAll(basename(folder), "<id>")]);
  return Object.fromEntries(await Promise.all(texts)) as Record<string, string>;
}

/**
 * `npm install && npm test` of plugins whose settings are the same: typed in the first, and what it installed is there for the others, whose tests then run
 * together. Seven runs of npm and of the runner would differ in nothing but the tests.
 */
export interface SharedTests {
  /** Called in place of the line. @returns whether it has to be typed, because nobody has done so with success */
  begin(folder: string): Promise<boolean>;
  /** Takes up what the typed line has installed. */
  installed(folder: string): Promise<void>;
  /** Plugins that did not type it. */
  readonly ids: readonly string[];
  /** Runs the tests of these. */
  run(): Promise<TestedPlugins>;
  remove(): Promise<void>;
}

/** @param packageRoot the installation that `svc/sdk` is taken from */
export async function sharedTests(packageRoot: string): Promise<SharedTests> {
  const own = await mkdtemp(join(tmpdir(), "svc-shared-tests-"));
  const packages = join(own, "node_modules");
  const ids: string[] = [];
  let first: Record<string, string> | undefined;
  return {
    ids,
    async begin(folder) {
      const settings = await settingsOf(folder);
      if (first === undefined) return true;
      const id = basename(folder);
      expect(settings, `${id} would be installed or tested in another way`).toEqual(first);
      // The next commands of the guide need the packages; the copy keeps the files as they were when the tests were to run.
      await run("cp", ["-al", "--no-clobber", `${packages}/.`, join(folder, "node_modules")]);
      await cp(folder, join(own, id), { recursive: true, filter: (path) => basename(path) !== "node_modules" });
      ids.push(id);
      return false;
    },
    async installed(folder) {
      await rm(packages, { recursive: true, force: true });
      // Hard links: npm replaces files and never writes into them.
      await run("cp", ["-al", join(folder, "node_modules"), packages]);
      for (const name of ["svc", ".vite", ".vite-temp", ".vitest"]) await rm(join(packages, name), { recursive: true, force: true });
      // Only now: where this failed, the next one types the line itself.
      first = await settingsOf(folder);
    },
    async run() {
      await linkFolder(own, "svc", packageRoot);
      return testPlugins(own, ids);
    },
    remove: () => rm(own, { recursive: true, force: true }),
  };
}
