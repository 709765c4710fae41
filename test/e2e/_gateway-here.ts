import { createGateway } from "../../kernel/boot/gateway.ts";
import { createProgram } from "../../kernel/cli/program.ts";
import { programParts } from "../../kernel/cli/run.ts";
import type { MemoryGauge } from "../../kernel/operations/memory-pressure.ts";
import { importBundled } from "../../sdk/testing/import-bundled.ts";
import { stopLater } from "./_cli.ts";
import { type Home, portIn, type Running } from "./_process.ts";

/** A gateway that runs in the test's process. */
export interface RunningHere extends Pick<Running, "port" | "url" | "out"> {
  /** Exit code of the command, once it has ended. */
  ended: Promise<number>;
  /** Stops it, as a signal would; resolves with the exit code of the command. `stopAll` does so as well. */
  stop(): Promise<number>;
}

/** Parts of a gateway that a test replaces. */
export interface Replaced {
  /** Asked for each gateway, after an in-process restart too. */
  memory?(): MemoryGauge;
}

/** Nothing of a process is guarded here, and code of bundled plugins is evaluated once for all gateways of the process. */
const programWith = ({ memory }: Replaced) =>
  createProgram({
    ...programParts,
    maker: async () => ({
      create: (options) => createGateway({ ...options, importBundled, ...(memory ? { memory: memory() } : {}) }),
      guard: () => () => undefined,
    }),
  });

/**
 * Runs `svc gateway` to its readiness inside the test's process: the command with its flags, its log and its files, without the start of a program. For stories
 * about what commands and gateway say to each other; what a process does with signals, streams and exit codes has stories of its own.
 */
export async function gatewayHere(
  home: Home,
  args: string[] = [],
  env: Record<string, string> = {},
  replaced: Replaced = {},
): Promise<RunningHere> {
  const run = programWith(replaced);
  const out = { stdout: "", stderr: "" };
  const end = new AbortController();
  let code: number | undefined;
  const ended = run(["gateway", ...args], {
    env: { ...home.env, ...env },
    cwd: home.stateDir,
    stdout: { write: (text) => (out.stdout += text), isTTY: false },
    stderr: { write: (text) => (out.stderr += text), isTTY: false },
    interrupt: () => ({ signal: end.signal, exitCode: (own) => own, dispose: () => undefined }),
  }).then((own) => (code = own));
  const stop = () => {
    end.abort();
    return ended;
  };
  stopLater(stop);
  const port = await portIn(home, { pid: process.pid, hasEnded: () => code !== undefined }).catch(async (error: unknown) => {
    await stop();
    throw new Error(`the gateway is not ready: ${error}\n${out.stderr}${out.stdout}`);
  });
  if (port === undefined) throw new Error(`the gateway ended with ${code}: ${out.stderr}${out.stdout}`);
  return { port, url: `http://127.0.0.1:${port}`, out, ended, stop };
}
