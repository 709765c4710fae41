import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { bootstrapSource, compiledTwin } from "./worker.ts";

/** Options for starting a child process. */
export interface ChildOptions {
  /** All its environment variables; nothing is inherited. */
  env: Readonly<Record<string, string>>;
  /** Receives text of its standard error; its standard output is ignored. */
  onStderr?(text: string): void;
}

/**
 * Starts a process that runs one module (`workerUrl` names it), compiled or TypeScript with `svc/sdk` mapped to the sources, and talks with it by
 * `child.send` and `message`; buffers and typed arrays cross as they are. For code that may crash or block in ways a thread does not survive.
 * It leads a process group of its own, so a Ctrl-C in the terminal is not for it. Its owner ends it; a module that waits for `disconnect` of `process`
 * and ends then outlives nobody, a `kill -9` of the owner included.
 */
export function startChild(url: URL, { env, onStderr }: ChildOptions): ChildProcess {
  const file = compiledTwin(url)?.url ?? url;
  // A package that forks would hand these arguments on and start this module once more, instead of its own.
  const source = `process.execArgv = [];\n${bootstrapSource(file)}`;
  const code = file.pathname.endsWith(".ts") ? ["--input-type=module", "-e", source] : [fileURLToPath(file)];
  const child = spawn(process.execPath, ["--no-warnings", ...code], {
    env: { ...env },
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    serialization: "advanced",
    detached: true,
  });
  child.stderr?.on("error", () => undefined); // `exit` of the child says all there is to say
  child.stderr?.on("data", (chunk: Buffer) => onStderr?.(chunk.toString()));
  return child;
}
