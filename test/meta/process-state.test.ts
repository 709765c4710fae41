import { execFile } from "node:child_process";
import fs from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { TestProjectInlineConfiguration } from "vitest/config";
import config from "../../vitest.config.ts";
import { watchProcessState } from "../process-state.ts";
import { repositoryRoot } from "../tools/source/tree.ts";

const noop = () => undefined;
const realConnect = net.Socket.prototype.connect;
const realStat = fs.statSync;
const home = process.cwd();

describe("a test file that leaves the process changed is told by name:", () => {
  test.each<[name: string, change: () => void, undo: () => void]>([
    ["working folder", () => process.chdir(tmpdir()), () => process.chdir(home)],
    ["umask", () => void process.umask(0o077), () => void process.umask(0o022)],
    ["environment: LEFT_BEHIND", () => void Object.assign(process.env, { LEFT_BEHIND: "1" }), () => void delete process.env.LEFT_BEHIND],
    ["environment: STUBBED", () => void vi.stubEnv("STUBBED", "1"), () => void vi.unstubAllEnvs()],
    ["process listener: SIGUSR2 1", () => void process.on("SIGUSR2", noop), () => void process.off("SIGUSR2", noop)],
    ["global: fetch", () => void vi.stubGlobal("fetch", noop), () => void vi.unstubAllGlobals()],
    [
      "global: leftBehind",
      () => void Object.assign(globalThis, { leftBehind: 1 }),
      () => void Reflect.deleteProperty(globalThis, "leftBehind"),
    ],
    ["fake timers", () => void vi.useFakeTimers(), () => void vi.useRealTimers()],
    ["Date: now", () => void vi.spyOn(Date, "now"), () => void vi.restoreAllMocks()],
    ["fs: statSync", () => void Object.assign(fs, { statSync: noop }), () => void Object.assign(fs, { statSync: realStat })],
    [
      "Socket.prototype: connect",
      () => void Object.assign(net.Socket.prototype, { connect: noop }),
      () => void Object.assign(net.Socket.prototype, { connect: realConnect }),
    ],
  ])("%s", (name, change, undo) => {
    const changes = watchProcessState();
    expect(changes()).toEqual([]);
    change();
    const found = changes();
    undo();
    expect(found).toContain(name);
    expect(changes()).toEqual([]);
  });

  test("every project without isolation is watched", () => {
    const projects = (config.test?.projects ?? []) as TestProjectInlineConfiguration[];
    const shared = projects.flatMap(({ test }) => (test?.isolate === false ? [[test.name, test.setupFiles]] : []));
    const watched = expect.arrayContaining(["./test/setup-shared.ts"]);
    expect(shared).toEqual([
      ["e2e", watched],
      ["gateway", watched],
      ["meta", watched],
      ["unit", watched],
    ]);
  });

  test("that file fails, and no other one of the process", async () => {
    const { code, stdout, stderr, times } = await runInOneProcess({
      a: `test("leaves", () => { process.env.LEFT_BEHIND = "1"; });`,
      b: `test("leaves nothing", () => undefined);`,
      c: `test("leaves a timer", () => void setInterval(() => undefined, 60_000));`,
    });

    expect({ code, stdout }).toEqual({
      code: 1,
      stdout: expect.stringMatching(/Test Files +2 failed \| 1 passed[\s\S]*Tests +3 passed/),
    });
    // Failed files have no notes of their own; their time is in the next file's.
    const notes = (await Promise.all((await readdir(times)).map((name) => readFile(join(times, name), "utf8")))).join("");
    expect(JSON.parse(notes)).toMatchObject({ project: "shared", file: "b.test.js", cpuSeconds: expect.any(Number) });
    expect(stderr).toMatch(/FAIL .*a\.test\.js[\s\S]*leaves the process changed.*: environment: LEFT_BEHIND/);
    expect(stderr).toMatch(/FAIL .*c\.test\.js[\s\S]*leaves open.*: Timeout \(1\)/);
  });
});

test("every file of a process fails by what it saw of the gateway that the protocol does not allow", async () => {
  const seen = `import { checkEvent } from ${JSON.stringify(join(repositoryRoot, "sdk/testing/wire-check.ts"))};`;
  const { code, stdout, stderr } = await runInOneProcess({
    a: `${seen} test("sees", () => checkEvent("tick", "of a"));`,
    b: `${seen} test("sees", () => checkEvent("tick", "of b"));`,
    c: `${seen} afterAll(() => checkEvent("tick", "of c")); test("sees nothing", () => undefined);`,
    d: `test("sees nothing", () => undefined);`,
  });

  expect({ code, stdout }).toEqual({
    code: 1,
    stdout: expect.stringMatching(/Test Files +3 failed \| 1 passed[\s\S]*Tests +2 failed \| 2 passed/),
  });
  for (const name of ["a", "b", "c"])
    expect(stderr).toMatch(
      new RegExp(`FAIL .*${name}\\.test\\.js[\\s\\S]*the gateway said what the protocol does not allow:\nevent tick: at root`),
    );
});

/** Runs these test files one after the other in a process that they share, with the setup of such files. */
async function runInOneProcess(files: Readonly<Record<string, string>>) {
  const folder = await mkdtemp(join(tmpdir(), "svc-leaver-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const setupFiles = ["setup.ts", "setup-shared.ts"].map((name) => join(repositoryRoot, "test", name));
  const shared = { test: { globals: true, isolate: false, maxWorkers: 1, setupFiles, provide: { project: "shared" } } };
  const times = join(folder, "times");
  await mkdir(times);
  await writeFile(join(folder, "vitest.config.mjs"), `export default ${JSON.stringify(shared)};`);
  for (const [name, source] of Object.entries(files)) await writeFile(join(folder, `${name}.test.js`), source);

  const args = [join(repositoryRoot, "node_modules/vitest/vitest.mjs"), "run", "--root", folder];
  const env = { PATH: process.env.PATH, NO_COLOR: "1", SVC_TEST_TIMES: times };
  const ended = await promisify(execFile)(process.execPath, args, { env }).then(
    (done) => ({ code: 0, ...done }),
    (failed: { code: number; stdout: string; stderr: string }) => failed,
  );
  return { ...ended, times };
}
