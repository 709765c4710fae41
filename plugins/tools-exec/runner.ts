import { realpath, stat } from "node:fs/promises";
import { relative, resolve } from "node:path";
import { isInside } from "svc/sdk/internal";
import type { ExecConfig } from "./config.ts";
import { environmentFor } from "./environment.ts";
import { execErrors } from "./errors.ts";
import type { Command } from "./permission.ts";
import { RunningCommand } from "./running-command.ts";
import { bwrapArgs, hasPrlimit, probeSandbox } from "./sandbox.ts";

/** Where a command may run and how it is kept. */
export interface Place {
  /** Workspace with all links followed. */
  workspace: string;
  /** Folder of the command, inside the workspace. */
  cwd: string;
}

/** Starts commands in the sandbox, or says why it cannot. */
export class CommandRunner {
  readonly #config: ExecConfig;
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #signal: AbortSignal;
  #tools: Promise<{ sandbox: boolean; prlimit: boolean }> | undefined;

  constructor(config: ExecConfig, { env, signal }: { env: Readonly<Record<string, string | undefined>>; signal: AbortSignal }) {
    this.#config = config;
    this.#env = env;
    this.#signal = signal;
  }

  /** Programs that this machine has; looked up once. */
  tools(): Promise<{ sandbox: boolean; prlimit: boolean }> {
    this.#tools ??= Promise.all([this.#config.sandbox !== "off" && probeSandbox(this.#signal), hasPrlimit(this.#signal)]).then(
      ([sandbox, prlimit]) => ({ sandbox, prlimit }),
    );
    return this.#tools;
  }

  /** @throws {SvcError} `command-refused` when the sandbox is required and missing */
  async start({ argv, text, env }: Command, { workspace, cwd }: Place, timeoutMs: number): Promise<RunningCommand> {
    const { sandbox, prlimit } = await this.tools();
    if (this.#config.sandbox === "require" && !sandbox) {
      throw execErrors.commandRefused({ reason: "the operator requires a sandbox, and bubblewrap does not work on this machine" });
    }
    const own = argv ?? ["/bin/sh", "-c", text ?? ""];
    const given = environmentFor(this.#env, { names: this.#config.env, ...(env ? { own: env } : {}) });
    const limited = prlimit ? ["prlimit", `--as=${this.#config.memoryMb * 1024 * 1024}`, "--core=0", "--", ...own] : own;
    const wrapped = sandbox
      ? ["bwrap", ...bwrapArgs({ workspace, below: relative(workspace, cwd), env: given, network: this.#config.network }), ...limited]
      : limited;
    const [file = "", ...args] = wrapped;
    return new RunningCommand({ file, args, cwd, env: given, timeoutMs });
  }
}

/** The folder that a call names, which has to be one of the workspace. @throws {SvcError} `command-invalid` */
export async function placeIn(workspace: string, wanted = "."): Promise<Place> {
  const root = await realpath(workspace);
  const cwd = await realpath(resolve(root, wanted)).catch(() => undefined);
  const isFolder = cwd !== undefined && (await stat(cwd)).isDirectory();
  if (!isFolder || !(cwd === root || isInside(root, cwd)))
    throw execErrors.commandInvalid({
      field: "cwd",
      reason: `expected a folder of the workspace, got ${JSON.stringify(wanted.slice(0, 200))}`,
    });
  return { workspace: root, cwd };
}
