import { isAbsolute } from "node:path";
import type { Env } from "../../sdk/types/common.ts";
import { isCredentialName, isLoaderName } from "./env-names.ts";
import { type ProgramResult, runProgram } from "./run-program.ts";

const MAX_OUTPUT_BYTES = 1024 * 1024;
/** Whatever a login script prints comes before it. */
const MARK = "__svc_env__";

/**
 * Credentials that the user's login shell would set and `env` lacks (`env.shellEnv`): the shell runs once, without a terminal, and is ended
 * after `timeoutMs`.
 * @returns the missing credentials, or the reason why there are none to be had; no value is in a reason
 */
export async function readShellEnv(env: Env, timeoutMs: number): Promise<{ added: Record<string, string>; problem?: string }> {
  const shell = env.SHELL ?? "/bin/sh";
  if (process.platform === "win32") return { added: {}, problem: "there are no login shells on this system" };
  if (!isAbsolute(shell)) return { added: {}, problem: "SHELL: expected an absolute path" };
  const run = await runShell(shell, env, timeoutMs);
  if ("problem" in run) return { added: {}, problem: `login shell ${shell} ${run.problem}` };
  const [, listed] = run.output.split(MARK, 2);
  if (listed === undefined) return { added: {}, problem: `login shell ${shell} printed no environment` };
  const pairs = listed.split("\0").map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)] as const);
  const missing = pairs.filter(([name, value]) => value !== "" && env[name] === undefined && isCredentialName(name) && !isLoaderName(name));
  return { added: Object.fromEntries(missing) };
}

function runShell(shell: string, env: Env, timeoutMs: number): Promise<ProgramResult> {
  return runProgram({
    command: shell,
    args: ["-l", "-c", `printf %s ${MARK}; env -0`],
    env,
    timeoutMs,
    maxOutputBytes: MAX_OUTPUT_BYTES,
    problems: { late: `did not end within ${timeoutMs} ms`, tooMuch: "printed too much" },
  });
}
