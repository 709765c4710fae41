#!/usr/bin/env node
/**
 * `npm test [-- <arguments of vitest>]`: runs the tests and closes with one line, `N passed, N failed, N skipped`, whose numbers are true; the exit code is 0
 * only when nothing failed.
 * `npm run test:long [name]`: the long forms of loops, and the storms and fuzz that have no other (`*.long.test.ts`); those whose file has the name in its path.
 * `SVC_TEST_SEED` and `SVC_FUZZ_SEED` repeat a run. `--list` prints the files of either instead.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { watchPace } from "./pace.mjs";

const root = join(import.meta.dirname, "..");
const args = process.argv.slice(2);
const isLong = take("--long");
const ownReport = takeValue("--report");
const report = ownReport ?? join(root, "test/.tmp/results.json");

const files = testFiles();
const longOnly = files.filter((path) => path.endsWith(".long.test.ts"));
if (take("--list")) {
  process.stdout.write(`${(isLong ? longFiles(args) : files.filter((path) => !longOnly.includes(path))).join("\n")}\n`);
  process.exit();
}
const chosen = isLong ? longFiles(args) : args;
/** Arguments that choose no files, only their order. */
const isWhole = args.every((arg) => arg.startsWith("--sequence."));
/** Files that must stand in the report; whoever selects by arguments of vitest knows what is run. */
const expected = isLong ? chosen : !isWhole ? [] : files.filter((path) => !longOnly.includes(path) || env().SVC_TEST_LONG === "1");
rmSync(report, { force: true });
// Each process of the tests notes here what it used (test/setup.ts); `.ci/times.mjs` reads it. A run inside a run has a report of its own.
const times = ownReport ? undefined : join(root, "test/.tmp/times");
if (times) rmSync(times, { recursive: true, force: true });
if (times) mkdirSync(times, { recursive: true });
const begun = Date.now();
const pace = watchPace();
const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
const child = spawn(process.execPath, [join(root, "node_modules/vitest/vitest.mjs"), "run", ...reporters, ...chosen], {
  cwd: root,
  env: { ...env(), SVC_TEST_TIMES: times },
  stdio: "inherit",
});
// A Ctrl-C reaches vitest too, being of the same terminal; who ends this process alone means both.
process.on("SIGINT", () => undefined);
process.on("SIGTERM", () => child.kill("SIGTERM"));
child.on("close", (code) => {
  const whole = { project: "all", begun, ended: Date.now(), cpuSeconds: childSeconds(), paceMs: pace.end() };
  if (times) writeFileSync(join(times, "all.jsonl"), JSON.stringify(whole));
  const notRun = code === 0 ? missing(expected) : [];
  if (notRun.length > 0) process.stderr.write(`\nnot run, though nobody left them out:\n  ${notRun.join("\n  ")}\n`);
  const left = expected.length > 0 && !isLong ? longOnly.filter((path) => !expected.includes(path)) : [];
  if (left.length > 0) process.stdout.write(`\nleft to npm run test:long: ${left.join(", ")}\n`);
  const ended = notRun.length > 0 ? 1 : (code ?? 1);
  const { status } = spawnSync(process.execPath, [join(root, ".ci/counts.mjs"), report, String(ended)], { stdio: "inherit" });
  process.exitCode = ended || status || 0;
});

function env() {
  return isLong ? { SVC_TEST_LONG: "1", SVC_FUZZ_SECONDS: "600", ...process.env } : process.env;
}

/** Files of these that are not in the report; `--help` and the like end well without one. */
function missing(paths) {
  const { testResults } = existsSync(report) ? JSON.parse(readFileSync(report, "utf8")) : { testResults: [] };
  const reported = new Set(testResults.map(({ name }) => relative(root, name)));
  return paths.filter((path) => !reported.has(path));
}

/** CPU time of the tests and everything they started, in ticks of 1/100 s; only Linux tells. */
function childSeconds() {
  try {
    const fields = readFileSync("/proc/self/stat", "utf8").split(") ")[1].split(" ");
    return (Number(fields[13]) + Number(fields[14])) / 100;
  } catch {
    return 0;
  }
}

function testFiles() {
  return ["test", "kernel", "sdk", "plugins"]
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true }).map((name) => join(root, folder, name)))
    .filter((path) => path.endsWith(".test.ts") && !path.includes("node_modules"))
    .map((path) => relative(root, path))
    .sort();
}

/** Test files that are long only, or have a long form: they read `SVC_TEST_LONG` or a number of seconds for fuzz. */
function longFiles(names) {
  const hasLongForm = (path) => /process\.env\.SVC_(TEST_LONG|FUZZ_SECONDS)/.test(readFileSync(join(root, path), "utf8"));
  const long = files.filter((path) => longOnly.includes(path) || hasLongForm(path));
  const wanted = long.filter((path) => names.length === 0 || names.some((name) => path.includes(name)));
  if (wanted.length > 0) return wanted;
  process.stderr.write(`no long test has ${names.join(" or ")} in its path; there are:\n  ${long.join("\n  ")}\n`);
  process.exit(2);
}

function take(flag) {
  const at = args.indexOf(flag);
  if (at !== -1) args.splice(at, 1);
  return at !== -1;
}

function takeValue(flag) {
  const at = args.indexOf(flag);
  return at === -1 ? undefined : args.splice(at, 2)[1];
}
