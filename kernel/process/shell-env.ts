import { spawn } from "node:child_process";
import { isAbsolute } from "node:path";
import type { Env } from "../../sdk/types/common.ts";
import { isCredentialName, isLoaderName } from "./env-names.ts";

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

function runShell(shell: string, env: Env, timeoutMs: number): Promise<{ output: string } | { problem: string }> {
  return new Promise((resolve) => {
    const child = spawn(shell, ["-l", "-c", `printf %s ${MARK}; env -0`], {
      env: { ...env },
      stdio: ["ignore", "pipe", "ignore"],
      detached: true, // a group of its own, so that what the login scripts start ends with it
    });
    const chunks: Buffer[] = [];
    let bytes = 0;
    const settle = (run: { output: string } | { problem: string }) => {
      clearTimeout(timer);
      child.stdout.destroy();
      resolve(run);
    };
    const end = (problem: string) => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      } catch {
        // it has ended meanwhile
      }
      settle({ problem });
    };
    const timer = setTimeout(() => end(`did not end within ${timeoutMs} ms`), timeoutMs);
    child.on("error", (error: NodeJS.ErrnoException) => settle({ problem: `could not be started (${error.code ?? "unknown cause"})` }));
    child.stdout.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_OUTPUT_BYTES) end("printed too much");
      else chunks.push(chunk);
    });
    child.stdout.on("error", () => undefined); // its end is judged by `close`
    child.once("close", (code) =>
      settle(code === 0 ? { output: Buffer.concat(chunks).toString("utf8") } : { problem: `ended with code ${code}` }),
    );
  });
}
