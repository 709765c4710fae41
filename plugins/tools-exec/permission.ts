import type { Approvals, RunOrigin } from "svc/sdk";
import type { AllowedCommands } from "./allowed-commands.ts";
import type { ExecConfig } from "./config.ts";
import { execErrors } from "./errors.ts";
import { fitsPattern, isOneProgram, wordsOf } from "./patterns.ts";

/** A command as it would run. */
export interface Command {
  /** Program and arguments, without a shell. */
  argv?: readonly string[];
  /** Text for `/bin/sh -c`. */
  text?: string;
  /** Variables that the call sets. */
  env?: Readonly<Record<string, string>>;
  cwd: string;
  agentId: string;
  sessionKey: string;
  /** Origin of the run that asks. */
  origin: RunOrigin;
}

interface Deps {
  config: Pick<ExecConfig, "mode" | "allow" | "approvalSeconds">;
  allowed: Pick<AllowedCommands, "has" | "add">;
  /** Undefined while the plugin that asks people is off. */
  approvals: () => Approvals | undefined;
}

/**
 * Lets a command pass or refuses it, in words for the model. A text for a shell and a command with variables of its own are never on a list: what they do cannot be
 * told from their words. A run in which others have a word is asked about even where the operator wants no questions.
 * @throws {SvcError} `command-refused`; the signal's reason
 */
export async function permit(command: Command, signal: AbortSignal, { config, allowed, approvals }: Deps): Promise<void> {
  const { argv, agentId } = command;
  if (config.mode === "full" && command.origin === "operator") return;
  const isPlain = argv !== undefined && Object.keys(command.env ?? {}).length === 0;
  if (isPlain && config.allow.some((pattern) => fitsPattern(argv, wordsOf(pattern)))) return;
  // The list may be older than the rule about programs that each folder has another one of.
  if (isPlain && isOneProgram(argv[0]) && (await allowed.has(agentId, argv))) return;
  if (config.mode === "allowlist") {
    throw refused(
      "it is not on the operator's list of allowed ones, and nobody is asked; do without it, or tell the user what you would need",
    );
  }
  const isKeepable = isPlain && isSameEverywhere(argv);
  const desk = approvals();
  if (!desk) throw refused("nobody can be asked, because the plugin approvals is off");
  const { decision, message } = await desk.request(
    {
      kind: "exec",
      request: { ...shown(command), ask: isKeepable ? "on-miss" : "always", security: "allowlist" },
      timeoutMs: config.approvalSeconds * 1_000,
      ...(isKeepable ? { keep: () => allowed.add(agentId, argv) } : {}),
    },
    { signal },
  );
  if (decision === "allow-once" || decision === "allow-always") return;
  if (decision === "deny") throw refused("a person denied it. Do not try it again in another form; ask the user how to go on");
  throw refused(message ?? "nobody answered");
}

/** Whether the words of a command say all of what runs: no `*`, which a list reads as any further words, and no program that each folder has another one of. */
function isSameEverywhere([program = "", ...rest]: readonly string[]): boolean {
  return !rest.includes("*") && isOneProgram(program);
}

const refused = (reason: string) => execErrors.commandRefused({ reason });

/** The command as an approver reads it, its variables in front. */
function shown({ argv, text, env = {}, cwd, agentId, sessionKey }: Command) {
  const variables = Object.entries(env);
  const said = argv
    ? { commandArgv: [...variables.map(([name, value]) => `${name}=${value}`), ...argv] }
    : { command: [...variables.map(([name, value]) => `${name}='${value.replaceAll("'", "'\\''")}'`), text].join(" ") };
  return { ...said, cwd, agentId, sessionKey };
}
