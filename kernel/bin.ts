import { createInterrupt } from "../sdk/cli/interrupt.ts";
import { armFailpoints } from "../sdk/failpoint.ts";
import { exitProcess } from "../sdk/sandbox/threads.ts";
import { runCommandLine } from "./cli/run.ts";
import { exportEnv } from "./config/process-env.ts";

/** The `svc` program: one command line → exit code. The caller ends the process with `finish`. */
export async function main(argv: readonly string[]): Promise<number> {
  // Somebody who stopped reading (`svc … | head`) is no error.
  process.stdout.once("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));
  // Whatever this program and its children write is its user's alone, unless a mode is asked for (`security.md` F-06).
  process.umask(0o077);
  const { env, stdout, stderr } = process;
  armFailpoints(env);
  const interrupt = (options: Parameters<typeof createInterrupt>[0]) => createInterrupt(options, exitProcess);
  return runCommandLine(argv, { env, stdout, stderr, interrupt, exportEnv });
}

/** Ends the process once everything written has left it. */
export async function finish(code: number): Promise<void> {
  await Promise.all([process.stdout, process.stderr].map((stream) => new Promise<void>((resolve) => stream.write("", () => resolve()))));
  await exitProcess(code);
}
