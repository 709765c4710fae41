import { expect, test } from "vitest";
import { runProgram } from "./run-program.ts";

const limits = { timeoutMs: 10_000, maxOutputBytes: 100, problems: { late: "was late", tooMuch: "wrote too much" } };
const run = (code: string, own: Partial<Parameters<typeof runProgram>[0]> = {}) =>
  runProgram({ command: process.execPath, args: ["-e", code], env: {}, ...limits, ...own });

test("a program that was stopped before its start is not started", async () => {
  // Arguments that the system refuses, so that an attempt to start would be seen.
  expect(await run("", { args: ["\0"], signal: AbortSignal.abort() })).toEqual({ problem: "was stopped" });
  expect(await run("", { args: ["\0"] })).toEqual({ problem: "could not be started (ERR_INVALID_ARG_VALUE)" });
});

test("the end of a program is told by its code or its signal", async () => {
  expect(await run("console.log('v')")).toEqual({ output: "v\n" });
  expect(await run("process.exit(3)")).toEqual({ problem: "ended with code 3" });
  expect(await run("process.kill(process.pid, 'SIGKILL')")).toEqual({ problem: "was ended by SIGKILL" });
});

test("a program that is missing, late or too loud is a problem", async () => {
  expect(await run("", { command: "/nowhere/program" })).toEqual({ problem: "could not be started (ENOENT)" });
  expect(await run("setInterval(() => {}, 1e6)", { timeoutMs: 50 })).toEqual({ problem: "was late" });
  expect(await run("console.log('x'.repeat(200)); setInterval(() => {}, 1e6)")).toEqual({ problem: "wrote too much" });
});
