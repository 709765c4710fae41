import type { Stats } from "node:fs";
import { lstat, realpath, stat } from "node:fs/promises";
import { dirname, isAbsolute, sep } from "node:path";
import { isRecord } from "../../sdk/is-record.ts";
import { type ProgramResult, runProgram } from "../process/run-program.ts";
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
  if ("problem" in run) return failed(run.problem);
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

function runOnce(
  provider: ExecProvider,
  { env, input, signal }: { env: Record<string, string>; input: string; signal: AbortSignal | undefined },
): Promise<ProgramResult> {
  return runProgram({
    command: provider.command,
    args: provider.args,
    cwd: dirname(provider.command),
    env,
    input,
    signal,
    timeoutMs: provider.timeoutMs,
    maxOutputBytes: provider.maxOutputBytes,
    problems: {
      late: `gave no answer within ${provider.timeoutMs} ms`,
      tooMuch: `wrote more than ${provider.maxOutputBytes} bytes`,
    },
  });
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
