import { type ChildProcess, spawn } from "node:child_process";

/** A program that is to run once. */
export interface Program {
  command: string;
  args: readonly string[];
  /** All its variables. */
  env: Readonly<Record<string, string | undefined>>;
  cwd?: string;
  /** Text on its standard input; without it the input is closed. */
  input?: string;
  timeoutMs: number;
  maxOutputBytes: number;
  signal?: AbortSignal | undefined;
  /** Words for a program that passes a limit. */
  problems: { late: string; tooMuch: string };
}

/** The output of a program that ended with code 0, or what it did instead, to be put behind its name. */
export type ProgramResult = { output: string } | { problem: string };

/**
 * Runs a program once, without a shell of its own, and collects its standard output; standard error may hold secrets and is ignored. It leads a process group,
 * so that what it starts is killed with it when it passes a limit or is stopped.
 */
export function runProgram(program: Program): Promise<ProgramResult> {
  const { signal, input, timeoutMs, maxOutputBytes, problems } = program;
  if (signal?.aborted) return Promise.resolve({ problem: STOPPED });
  return new Promise((resolve) => {
    let child: ChildProcess;
    try {
      child = start(program);
    } catch (error) {
      resolve({ problem: notStarted(error) }); // arguments or variables that the system takes from nobody
      return;
    }
    const { stdin, stdout } = child;
    const chunks: Buffer[] = [];
    let bytes = 0;
    const settle = (result: ProgramResult) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      stdout?.destroy();
      resolve(result);
    };
    const end = (problem: string) => {
      killGroup(child.pid);
      settle({ problem });
    };
    const onAbort = () => end(STOPPED);
    const timer = setTimeout(() => end(problems.late), timeoutMs);
    signal?.addEventListener("abort", onAbort, { once: true });
    child.on("error", (error) => settle({ problem: notStarted(error) }));
    stdout?.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxOutputBytes) end(problems.tooMuch);
      else chunks.push(chunk);
    });
    child.once("close", (code, by) => {
      if (code === 0) settle({ output: Buffer.concat(chunks).toString("utf8") });
      else settle({ problem: code === null ? `was ended by ${by}` : `ended with code ${code}` });
    });
    stdout?.on("error", () => undefined); // its end is judged by `close`
    stdin?.on("error", () => undefined); // one that does not read its input may still answer
    stdin?.end(input);
  });
}

const STOPPED = "was stopped";
const hasGroups = process.platform !== "win32";

function start({ command, args, env, cwd, input }: Program): ChildProcess {
  return spawn(command, args, {
    cwd,
    env: { ...env },
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "ignore"],
    detached: hasGroups,
    windowsHide: true,
  });
}

function notStarted(error: unknown): string {
  return `could not be started (${(error as NodeJS.ErrnoException).code ?? "unknown cause"})`;
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(hasGroups ? -pid : pid, "SIGKILL");
  } catch {
    // it has ended meanwhile
  }
}
