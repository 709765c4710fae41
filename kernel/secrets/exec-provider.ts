import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Stats } from "node:fs";
import { lstat, realpath, stat } from "node:fs/promises";
import { dirname, isAbsolute, sep } from "node:path";
import type { Readable, Writable } from "node:stream";
import { isRecord } from "../../sdk/is-record.ts";
import { answerAll, answerOf, type ExecProvider, type SecretAnswer, type SecretQuestion } from "./provider.ts";

const PROTOCOL_VERSION = 1;
/** In such a folder others cannot replace a file that is not theirs. */
const STICKY = 0o1000;

/**
 * Secrets from an executable: one call for all ids, no shell, only the variables it was given. Its own texts (standard error, messages) are
 * never passed on, since they may hold what it found.
 */
export async function askExec(provider: ExecProvider, question: SecretQuestion): Promise<Map<string, SecretAnswer>> {
  const { ids, alias } = question;
  const failed = (reason: string) => answerAll(ids, `executable ${provider.command}: ${reason}`);
  const problem = await executableProblem(provider);
  if (problem) return failed(problem);
  const input = JSON.stringify({ protocolVersion: PROTOCOL_VERSION, provider: alias, ids });
  const run = await runOnce(provider, { env: childEnv(provider, question), input, signal: question.signal });
  if ("reason" in run) return failed(run.reason);
  const answers = parseOutput(provider, ids, run.output);
  if (typeof answers === "string") return failed(answers);
  return new Map([...answers].map(([id, a]) => [id, "reason" in a ? { reason: `executable ${provider.command}: ${a.reason}` } : a]));
}

/** Reason why this file is not run; undefined when it may be. */
export async function executableProblem({
  command,
  trustedDirs,
}: Pick<ExecProvider, "command" | "trustedDirs">): Promise<string | undefined> {
  if (!isAbsolute(command)) return "expected an absolute path";
  let file: Stats;
  let folder: Stats;
  try {
    [file, folder] = await Promise.all([lstat(command), stat(dirname(command))]);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT" ? "does not exist" : (code ?? "cannot be looked at");
  }
  if (file.isSymbolicLink()) return "is a symbolic link; name the file itself";
  if (!file.isFile()) return "is not a regular file";
  if (process.platform !== "win32") {
    if (file.mode & 0o022) return "can be written by others; expected mode 0755 or stricter";
    if (folder.mode & 0o022 && !(folder.mode & STICKY)) return "lies in a folder that others can write";
    if (process.getuid && file.uid !== 0 && file.uid !== process.getuid()) return "belongs to another user";
    if (!(file.mode & 0o111)) return "is not executable";
  }
  if (!trustedDirs) return undefined;
  const real = await realpath(command).catch(() => undefined);
  if (real === undefined) return "does not exist";
  const roots = await Promise.all(trustedDirs.map((dir) => realpath(dir).catch(() => undefined)));
  return roots.some((root) => root !== undefined && real.startsWith(root.endsWith(sep) ? root : root + sep))
    ? undefined
    : "lies outside of trustedDirs";
}

function childEnv(provider: ExecProvider, { env }: SecretQuestion): Record<string, string> {
  const passed = provider.passEnv.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]));
  return { ...Object.fromEntries(passed), ...provider.env };
}

type Run = { output: string } | { reason: string };

function runOnce(
  provider: ExecProvider,
  call: { env: Record<string, string>; input: string; signal: AbortSignal | undefined },
): Promise<Run> {
  const ownGroup = process.platform !== "win32";
  return new Promise((resolve) => {
    let child: ChildProcessByStdio<Writable, Readable, null>;
    try {
      child = spawn(provider.command, provider.args, {
        cwd: dirname(provider.command),
        env: call.env,
        stdio: ["pipe", "pipe", "ignore"],
        // A group of its own, so that what it starts ends with it.
        detached: ownGroup,
        windowsHide: true,
      });
    } catch (error) {
      resolve({ reason: notStarted(error) }); // arguments or variables that the system takes from nobody
      return;
    }
    const chunks: Buffer[] = [];
    let bytes = 0;
    const settle = (run: Run) => {
      clearTimeout(timer);
      call.signal?.removeEventListener("abort", aborted);
      child.stdout.destroy();
      resolve(run);
    };
    const end = (reason: string) => {
      kill(child.pid, ownGroup);
      settle({ reason });
    };
    const aborted = () => end("was stopped");
    const timer = setTimeout(() => end(`gave no answer within ${provider.timeoutMs} ms`), provider.timeoutMs);
    call.signal?.addEventListener("abort", aborted, { once: true });
    child.on("error", (error) => settle({ reason: notStarted(error) }));
    child.stdout.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > provider.maxOutputBytes) end(`wrote more than ${provider.maxOutputBytes} bytes`);
      else chunks.push(chunk);
    });
    child.once("close", (code, signal) => {
      if (code === 0) settle({ output: Buffer.concat(chunks).toString("utf8") });
      else settle({ reason: code === null ? `was ended by ${signal}` : `ended with code ${code}` });
    });
    child.stdout.on("error", () => undefined); // its end is judged by `close`
    child.stdin.on("error", () => undefined); // one that does not read its input may still answer
    child.stdin.end(call.input);
    if (call.signal?.aborted) aborted();
  });
}

function notStarted(error: unknown): string {
  return `could not be started (${(error as NodeJS.ErrnoException).code ?? "unknown cause"})`;
}

function kill(pid: number | undefined, group: boolean): void {
  if (pid === undefined) return;
  try {
    process.kill(group ? -pid : pid, "SIGKILL");
  } catch {
    // it has ended meanwhile
  }
}

function parseOutput(provider: ExecProvider, ids: readonly string[], output: string): Map<string, SecretAnswer> | string {
  const [only, ...others] = ids;
  const answer = parsed(output);
  // Also a secret that happens to be JSON by itself, such as one of digits.
  if (!isRecord(answer) && !provider.jsonOnly && only !== undefined && others.length === 0) {
    return new Map([[only, answerOf(output.replace(/\r?\n$/, ""))]]);
  }
  if (answer === undefined) return "its answer is not JSON";
  const { protocolVersion, values, errors }: Record<string, unknown> = isRecord(answer) ? answer : {};
  if (protocolVersion !== PROTOCOL_VERSION) return `its answer is not of protocolVersion ${PROTOCOL_VERSION}`;
  return new Map(ids.map((id) => [id, answerFor(own(values, id), own(errors, id))]));
}

/** Undefined: it is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function answerFor(value: unknown, error: unknown): SecretAnswer {
  if (error === undefined) return value === undefined ? { reason: "gave no value for this id" } : answerOf(value);
  const code = own(error, "code");
  // Only a plain code is passed on: free text may hold anything.
  return { reason: `refused this id (${typeof code === "string" && /^[\w.-]{1,64}$/.test(code) ? code : "no code"})` };
}

function own(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
}
