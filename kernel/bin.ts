import { createInterrupt } from "./cli/interrupt.ts";
import { runCommandLine } from "./cli/run.ts";
import { exportEnv } from "./config/process-env.ts";
import { armFailpoints } from "./process/failpoints.ts";
import type { StandardOutput } from "./process/standard-streams.ts";
import { guardStandardStreams } from "./process/standard-streams.ts";
import { exitProcess } from "./sandbox/threads.ts";

let guarded: StandardOutput | undefined;

/** The `svc` program: one command line → exit code. The caller ends the process with `finish`. */
export async function main(argv: readonly string[]): Promise<number> {
  guarded ??= guardStandardStreams(process);
  const output = guarded;
  // Whatever this program and its children write is its user's alone, unless a mode is asked for.
  process.umask(0o077);
  const { env } = process;
  armFailpoints(env);
  const interrupt = (options: Parameters<typeof createInterrupt>[0]) => createInterrupt(options, exitProcess);
  return runCommandLine(argv, { env, stdout: output.stdout, stderr: output.stderr, output, interrupt, exit: exitProcess, exportEnv });
}

/** Ends the process once everything written has left it. */
export async function finish(code: number): Promise<void> {
  await guarded?.flushed();
  await exitProcess(code);
}
