import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import { type CliContext, messageOf } from "svc/sdk";

/** One module may take so long; a module that waits at its top level for ever is ended with its process. */
const LIMIT_MS = 30_000;

/** Messages of the child process. */
type Told = { begin: string } | { end: string; error?: string };

/**
 * Imports the entries of plugins in a process of their own, where code that throws, ends the process or never comes back does no harm. Nothing is set up.
 * @returns why, by plugin, for those that do not load
 */
export async function checkImports(cli: CliContext, ids: readonly string[]): Promise<Map<string, string>> {
  const errors = new Map<string, string>();
  for (let left = ids; left.length > 0; ) {
    const { done, stuck } = await importInChild(cli, left, errors);
    if (stuck) errors.set(stuck.id, stuck.reason);
    const rest = left.filter((id) => !done.has(id) && id !== stuck?.id);
    if (rest.length === left.length) break; // the child did not even begin
    left = rest;
  }
  return errors;
}

/** The child's half: imports what it is asked for and tells before and after each. */
export async function importAndTell(cli: CliContext, ids: readonly string[]): Promise<void> {
  const candidates = await cli.candidates();
  const tell = (told: Told) => new Promise<void>((resolve) => (process.send ? process.send(told, () => resolve()) : resolve()));
  for (const id of ids) {
    const entry = candidates.find((c) => c.id === id && !c.problem)?.entry;
    if (entry === undefined) continue;
    await tell({ begin: id });
    const error = await cli.importPlugin(entry).then(
      (value) => (isDefinition(value) ? undefined : "its entry has no default export made by definePlugin"),
      (cause: unknown) => messageOf(cause).split("\n", 1)[0],
    );
    await tell({ end: id, ...(error === undefined ? {} : { error }) });
  }
}

async function importInChild(
  cli: CliContext,
  ids: readonly string[],
  errors: Map<string, string>,
): Promise<{ done: Set<string>; stuck?: { id: string; reason: string } }> {
  const { stateDir, configPath, packageRoot } = cli.paths;
  const child = fork(join(packageRoot, "bin/svc.mjs"), ["plugins", "doctor", "--import-only", ids.join(",")], {
    env: { ...cli.env, SVC_STATE_DIR: stateDir, SVC_CONFIG_PATH: configPath },
    execArgv: [],
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  const done = new Set<string>();
  let current: string | undefined;
  const limit = createLimit(child);
  const stop = () => child.kill("SIGKILL");
  cli.signal.addEventListener("abort", stop, { once: true });
  child.on("message", (told: Told) => {
    limit.again();
    if ("begin" in told) current = told.begin;
    else {
      current = undefined;
      done.add(told.end);
      if (told.error !== undefined) errors.set(told.end, told.error);
    }
  });
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    });
    cli.signal.throwIfAborted();
    if (current === undefined) return { done };
    const reason = limit.passed()
      ? `its import did not end within ${LIMIT_MS / 1_000} s`
      : `its import ended the process (exit code ${code})`;
    return { done, stuck: { id: current, reason } };
  } finally {
    limit.clear();
    cli.signal.removeEventListener("abort", stop);
  }
}

function createLimit(child: ChildProcess): { again(): void; passed(): boolean; clear(): void } {
  let passed = false;
  const kill = () => {
    passed = true;
    child.kill("SIGKILL");
  };
  let timer = setTimeout(kill, LIMIT_MS);
  return {
    again() {
      clearTimeout(timer);
      timer = setTimeout(kill, LIMIT_MS);
    },
    passed: () => passed,
    clear: () => clearTimeout(timer),
  };
}

function isDefinition(value: unknown): boolean {
  const { id, setup } = (value ?? {}) as { id?: unknown; setup?: unknown };
  return typeof id === "string" && typeof setup === "function";
}
