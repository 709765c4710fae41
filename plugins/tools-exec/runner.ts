import { randomUUID } from "node:crypto";
import { realpath, stat } from "node:fs/promises";
import { relative, resolve, sep } from "node:path";
import { holdFolder, isInside } from "svc/sdk/internal";
import type { ExecConfig } from "./config.ts";
import { environmentFor } from "./environment.ts";
import { execErrors } from "./errors.ts";
import { MARK } from "./left-behind.ts";
import type { Command } from "./permission.ts";
import { RunningCommand } from "./running-command.ts";
import { findPrlimit, findSandbox, holdsProcessLimit, keptCommand } from "./sandbox.ts";

/** Where a command may run and how it is kept. */
export interface Place {
  /** Workspace with all links followed. */
  workspace: string;
  /** Folder of the command, inside the workspace. */
  cwd: string;
}

/** Whole paths of the programs that keep a command. */
interface Tools {
  sandbox: string | undefined;
  prlimit: string | undefined;
}

/** Starts commands in the sandbox, or says why it cannot. */
export class CommandRunner {
  readonly #config: ExecConfig;
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #signal: AbortSignal;
  #tools: Promise<Tools> | undefined;

  constructor(config: ExecConfig, { env, signal }: { env: Readonly<Record<string, string | undefined>>; signal: AbortSignal }) {
    this.#config = config;
    this.#env = env;
    this.#signal = signal;
  }

  /** Programs that this machine has. A sandbox that is missing is looked for again. @throws {SvcError} `command-refused` when one does not answer in time */
  tools(): Promise<Tools> {
    this.#tools ??= this.#find().catch((error: unknown) => {
      this.#tools = undefined;
      throw error;
    });
    return this.#tools;
  }

  async #find(): Promise<Tools> {
    const path = this.#env.PATH ?? "";
    const isWanted = this.#config.sandbox !== "off";
    const [sandbox, prlimit] = await Promise.all([isWanted ? findSandbox(path, this.#signal) : undefined, findPrlimit(path, this.#signal)]);
    if (isWanted && sandbox === undefined) this.#tools = undefined;
    return { sandbox, prlimit };
  }

  /** @throws {SvcError} `command-refused` when the sandbox is required and missing */
  async start({ argv, text, env: own = {} }: Command, { workspace, cwd }: Place, timeoutMs: number): Promise<RunningCommand> {
    const { sandbox, prlimit } = await this.tools();
    const { sandbox: wanted, network, memoryMb, maxProcesses, env: names } = this.#config;
    if (wanted === "require" && sandbox === undefined) {
      throw execErrors.commandRefused({ reason: "the operator requires a sandbox, and bubblewrap does not work on this machine" });
    }
    const limits = { memoryMb, ...(holdsProcessLimit() ? { processes: maxProcesses } : {}) };
    const words = argv ?? ["/bin/sh", "-c", text ?? ""];
    const plan = { workspace, below: relative(workspace, cwd), own, network };
    const [file = "", ...args] = keptCommand(words, { sandbox, prlimit, plan, limits });
    // The sandbox ends with all that is in it; outside of it a command may leave its group.
    const mark = sandbox === undefined ? randomUUID() : undefined;
    // Outside of the sandbox nothing is the call's own.
    const env = environmentFor(this.#env, { names, ...(mark === undefined ? {} : { own: { ...own, [MARK]: mark } }) });
    // The folder was looked at a while ago: it is opened anew, through no link, and held until the command is in it.
    const folder = await holdFolder(workspace, plan.below.split(sep).filter(Boolean)).catch(() => undefined);
    if (!folder) throw execErrors.commandInvalid({ field: "cwd", reason: "the folder was replaced meanwhile" });
    try {
      return new RunningCommand({ file, args, cwd: folder.way, env, timeoutMs, mark });
    } finally {
      await folder.close();
    }
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
