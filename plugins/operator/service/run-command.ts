import { spawn } from "node:child_process";

/** How a program of the system ended. */
export interface CommandResult {
  /** Undefined when it could not be started or was killed. */
  code: number | undefined;
  stdout: string;
  stderr: string;
  /** Why there is no code. */
  problem?: string;
}

/** Runs a program of the system to its end. Never rejects. */
export type RunCommand = (argv: readonly string[], options?: { timeoutMs?: number }) => Promise<CommandResult>;

const DEFAULT_TIMEOUT_MS = 10_000;
const MAX_OUTPUT_BYTES = 4_000_000;

/** Creates the runner of a command's own environment. A program that is late or says too much is killed. */
export function createRunner({ env, signal }: { env: Readonly<Record<string, string | undefined>>; signal: AbortSignal }): RunCommand {
  // Texts of the system are read by nobody here, but errors are shown: in English, as all of svc.
  const childEnv = { ...env, LC_ALL: "C" };
  return (argv, { timeoutMs = DEFAULT_TIMEOUT_MS } = {}) =>
    new Promise((resolve) => {
      const [command = "", ...args] = argv;
      const out = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
      let bytes = 0;
      let problem: string | undefined;
      const child = spawn(command, args, { env: childEnv, stdio: ["ignore", "pipe", "pipe"], windowsHide: true });
      const end = (reason: string) => {
        problem ??= reason;
        child.kill("SIGKILL");
      };
      const onAbort = () => end("was stopped");
      const timer = setTimeout(() => end(`did not end within ${timeoutMs / 1_000} s`), timeoutMs);
      const settle = (code: number | null) => {
        clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
        const [stdout = "", stderr = ""] = [out.stdout, out.stderr].map((chunks) => decode(Buffer.concat(chunks)));
        const ended = problem === undefined && code !== null && code >= 0 ? code : undefined;
        resolve({ code: ended, stdout, stderr, ...(problem === undefined ? {} : { problem }) });
      };
      signal.addEventListener("abort", onAbort, { once: true });
      for (const name of ["stdout", "stderr"] as const) {
        child[name].on("error", () => undefined); // its end is judged by `close`
        child[name].on("data", (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > MAX_OUTPUT_BYTES) end("said too much");
          else out[name].push(chunk);
        });
      }
      child.once("error", (error: NodeJS.ErrnoException) => {
        problem ??= error.code === "ENOENT" ? "not found on this machine" : `could not be started (${error.code ?? error.message})`;
        settle(null);
      });
      child.once("close", settle);
      if (signal.aborted) onAbort();
    });
}

/** Output of Windows tools is UTF-16 when they print XML. */
function decode(bytes: Buffer): string {
  const isWide = bytes[0] === 0xff && bytes[1] === 0xfe;
  return bytes.toString(isWide ? "utf16le" : "utf8").replace(/^\ufeff/, "");
}

/** Why a program failed, in one line. */
export function failureOf({ code, stderr, stdout, problem }: CommandResult): string {
  const said = (stderr.trim() || stdout.trim()).split(/\r?\n/)[0]?.slice(0, 300) ?? "";
  return problem ?? (said === "" ? `ended with code ${code}` : said);
}
