import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type Env, killWithOwner } from "svc/sdk";
import { EngineFault } from "./engine-fault.ts";

/** A command of the engine. */
export interface EngineCommand {
  program: string;
  args: readonly string[];
  /** All its variables. */
  env: Env;
  cwd: string;
  timeoutMs: number;
  /** Its standard output is of no use: it goes nowhere, and no limit holds for it. */
  discardOutput?: boolean;
  signal?: AbortSignal | undefined;
}

/** End of a command within its limits, whatever its code. */
export interface EngineOutput {
  code: number;
  stdout: string;
  stderr: string;
}

/** A command that prints more is ended. */
export const MAX_OUTPUT_CHARS = 200_000;

/**
 * Runs one command without a shell, in a process group of its own: when it passes a limit or is stopped, the group is killed at once.
 * @throws {EngineFault} `missing`, `not-started`, `timed-out`, `too-much-output`, `killed`; the signal's reason
 */
export async function runEngine(command: EngineCommand): Promise<EngineOutput> {
  const { timeoutMs, signal } = command;
  signal?.throwIfAborted();
  const child = start(command);
  const output = collect(child);
  return new Promise((resolve, reject) => {
    let leftOpen: NodeJS.Timeout | undefined;
    let isSettled = false;
    const settle = (end: () => void) => {
      if (isSettled) return;
      isSettled = true;
      clearTimeout(timer);
      clearTimeout(leftOpen);
      signal?.removeEventListener("abort", onAbort);
      child.stdout?.destroy();
      child.stderr?.destroy();
      killGroup(child.pid); // what it left behind in its group
      end();
    };
    const fail = (fault: unknown) => settle(() => reject(fault));
    const timer = setTimeout(() => fail(new EngineFault("timed-out", `${shown(command)} did not end within ${timeoutMs} ms`)), timeoutMs);
    const onAbort = () => fail(signal?.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
    output.onFlood = () => fail(new EngineFault("too-much-output", `${shown(command)} printed more than ${MAX_OUTPUT_CHARS} characters`));
    child.once("error", (error) => fail(notStarted(command, error)));
    child.once("close", (code, by) => {
      if (code === null) fail(new EngineFault("killed", `${shown(command)} was ended by ${by}`));
      else settle(() => resolve({ code, stdout: output.stdout(), stderr: output.stderr() }));
    });
    child.once("exit", () => {
      // Something that it started may hold its pipes open for ever.
      if (!isSettled) leftOpen = setTimeout(() => killGroup(child.pid), PIPES_MS);
    });
  });
}

/** Time that the pipes of a command that has ended may stay open. */
const PIPES_MS = 500;

/**
 * Starts a program without arguments, to see whether it is there, and kills it as soon as it runs.
 * @throws {EngineFault} `missing`, `not-started`, `timed-out`
 */
export async function probeProgram(command: Omit<EngineCommand, "args" | "discardOutput">): Promise<void> {
  const child = start({ ...command, args: [], discardOutput: true });
  const limit = AbortSignal.timeout(command.timeoutMs);
  try {
    await once(child, "spawn", { signal: limit });
  } catch (error) {
    if (limit.aborted) throw new EngineFault("timed-out", `${command.program} did not start within ${command.timeoutMs} ms`);
    throw notStarted(command, error);
  } finally {
    child.once("error", () => undefined);
    killGroup(child.pid);
    child.stderr?.destroy();
  }
}

const hasGroups = process.platform !== "win32";

function start({ program, args, env, cwd, discardOutput = false }: EngineCommand): ChildProcess {
  try {
    const child = spawn(program, [...args], {
      cwd,
      env: { ...env },
      stdio: ["ignore", discardOutput ? "ignore" : "pipe", "pipe"],
      detached: hasGroups,
      windowsHide: true,
    });
    killWithOwner(child, { group: hasGroups });
    for (const stream of [child.stdout, child.stderr]) stream?.on("error", () => undefined); // `close` says all there is to say
    return child;
  } catch (error) {
    throw notStarted({ program }, error); // arguments or variables that the system takes from nobody
  }
}

function collect(child: ChildProcess) {
  const texts = { stdout: "", stderr: "" };
  const collected = { stdout: () => texts.stdout, stderr: () => texts.stderr, onFlood: () => undefined as void };
  for (const name of ["stdout", "stderr"] as const) {
    const stream = child[name];
    stream?.setEncoding("utf8");
    stream?.on("data", (chunk: string) => {
      texts[name] += chunk;
      if (texts[name].length <= MAX_OUTPUT_CHARS) return;
      texts[name] = texts[name].slice(0, MAX_OUTPUT_CHARS);
      collected.onFlood();
    });
  }
  return collected;
}

function notStarted({ program }: Pick<EngineCommand, "program">, error: unknown): EngineFault {
  const code = (error as NodeJS.ErrnoException).code ?? "unknown cause";
  if (code === "ENOENT")
    return new EngineFault("missing", `the program "${program}" was not found; install it or set memory.sidecar.command`);
  return new EngineFault("not-started", `the program "${program}" could not be started (${code})`);
}

/** A command for messages: without its query and its paths. */
function shown({ program, args }: EngineCommand): string {
  return [program.split(/[/\\]/).at(-1), ...args.slice(0, args[0] === "collection" ? 2 : 1)].join(" ");
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(hasGroups ? -pid : pid, "SIGKILL");
  } catch {
    // it has ended meanwhile
  }
}
