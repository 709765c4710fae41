import { runCommandLine } from "../../kernel/cli/run.ts";

/** Outcome of a command. */
export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** Place that a command runs in; its environment is the command's whole environment. */
export interface CommandPlace {
  env: Record<string, string>;
  /** Folder that is searched for a `.env`. */
  cwd: string;
}

/**
 * Runs one `svc` command to its end inside the test's process, as it behaves behind a pipe: without the start of a program, which each group of commands has
 * one story for. Not for commands that read standard input, end by a signal, or run a gateway.
 */
export async function svc(args: readonly string[], { env, cwd }: CommandPlace): Promise<Ended> {
  const out = { stdout: "", stderr: "" };
  const code = await runCommandLine(args, {
    env,
    cwd,
    stdout: { write: (text) => (out.stdout += text), isTTY: false },
    stderr: { write: (text) => (out.stderr += text), isTTY: false },
    interrupt: () => ({ signal: new AbortController().signal, exitCode: (own) => own, dispose: () => undefined }),
  });
  return { code, ...out };
}
