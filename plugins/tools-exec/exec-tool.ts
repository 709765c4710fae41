import { type Agents, type Approvals, type Clock, type Tool, z } from "svc/sdk";
import type { AllowedCommands } from "./allowed-commands.ts";
import type { ExecConfig } from "./config.ts";
import { isForbiddenName } from "./environment.ts";
import { execErrors } from "./errors.ts";
import { type LiveCommands, MAX_LIVE } from "./live-commands.ts";
import { clamp } from "./output.ts";
import { type Command, permit } from "./permission.ts";
import { type CommandRunner, placeIn } from "./runner.ts";
import type { Ended, RunningCommand } from "./running-command.ts";

const MAX_COMMAND_CHARS = 32_768;
const UPDATE_MS = 1_000;

const input = z
  .strictObject({
    argv: z
      .array(z.string().max(MAX_COMMAND_CHARS))
      .min(1)
      .max(500)
      .optional()
      .describe("Program and arguments, one by one; no shell reads them. Prefer this"),
    command: z
      .string()
      .min(1)
      .max(MAX_COMMAND_CHARS)
      .optional()
      .describe("A line for /bin/sh, for pipes and such; always needs a person's approval"),
    cwd: z.string().max(4_096).optional().describe("Folder of the workspace to run in; default the workspace itself"),
    timeoutSeconds: z.number().int().min(1).max(3_600).optional().describe("Time it may take"),
    background: z.boolean().optional().describe("Return at once and go on with the tool `process`"),
    env: z
      .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/), z.string().max(4_096))
      .optional()
      .describe("Further variables"),
  })
  .refine(({ argv, command }) => (argv === undefined) !== (command === undefined), "expected either argv or command");

export interface ExecDeps {
  config: ExecConfig;
  runner: CommandRunner;
  live: LiveCommands;
  allowed: AllowedCommands;
  approvals: () => Approvals | undefined;
  agents: () => Pick<Agents, "list">;
  clock: Clock;
}

/** `exec`: a program in the agent's workspace. */
export function execTool(deps: ExecDeps): Tool<z.output<typeof input>> {
  const { config, runner, live } = deps;
  return {
    name: "exec",
    description:
      "Runs a program in the workspace and returns its output and exit code. A person may have to approve it first; a denied command must not be tried again in another form. " +
      "Use the file tools instead of cat, sed or ls where they do.",
    input,
    // The longest wait for a person and the longest command fit; each has a limit of its own.
    timeoutMs: 3_600_000,
    async run({ argv, command: text, cwd, timeoutSeconds, background = false, env }, { agentId, sessionKey, origin, signal, update }) {
      const refused = Object.keys(env ?? {}).find(isForbiddenName);
      if (refused !== undefined) throw execErrors.commandInvalid({ field: "env", reason: `${refused} cannot be set` });
      const agent = deps
        .agents()
        .list()
        .find(({ id }) => id === agentId);
      if (!agent) throw execErrors.commandRefused({ reason: `agent "${agentId}" is gone` });
      const place = await placeIn(agent.workspace, cwd);
      const command: Command = {
        ...(argv ? { argv } : { text: text ?? "" }),
        ...(env ? { env } : {}),
        cwd: place.cwd,
        agentId,
        sessionKey,
        origin,
      };
      await permit(command, signal, deps);
      signal.throwIfAborted();
      const timeoutMs = Math.min(timeoutSeconds ?? config.timeoutSeconds, background ? 3_600 : config.timeoutSeconds) * 1_000;
      if (background) {
        const reserved = live.reserve();
        if (!reserved)
          throw execErrors.commandRefused({ reason: `${MAX_LIVE} commands run in the background already; end one with process kill` });
        try {
          const running = await runner.start(command, place, timeoutMs);
          // A call that was stopped meanwhile leaves nothing behind that nobody asked for.
          if (signal.aborted) running.end("killed");
          signal.throwIfAborted();
          const shown = (argv ?? [text]).join(" ").slice(0, 200);
          const { id } = live.add({ agentId, sessionKey, origin, shown, startedAt: deps.clock.now(), running });
          return `Started in the background as ${id}. Read its output with process {action: "poll", id: "${id}"}.`;
        } finally {
          void reserved.dispose();
        }
      }
      const running = await runner.start(command, place, timeoutMs);
      running.closeInput();
      return await ending(running, { signal, update });
    },
  };
}

/** Waits for the end of a command, tells of its output meanwhile, and ends it with its call. */
async function ending(running: RunningCommand, { signal, update }: { signal: AbortSignal; update(text: string): void }) {
  const onAbort = () => running.end("killed");
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  let told = 0;
  const telling = setInterval(() => {
    if (running.output.written === told) return;
    told = running.output.written;
    update(lastLine(running.output.from(Math.max(0, told - 500)).text));
  }, UPDATE_MS);
  try {
    const ended = await running.done;
    signal.throwIfAborted();
    const { text, lost } = running.output.from(0);
    return report(ended, { text, lost });
  } finally {
    clearInterval(telling);
    signal.removeEventListener("abort", onAbort);
  }
}

/** Result of a command for the model. */
export function report(ended: Ended, { text, lost }: { text: string; lost: number }) {
  const notes = lost > 0 ? `[the first ${lost} bytes are gone]\n` : "";
  const { code, signal, reason, message } = ended;
  const how =
    reason === "not-started"
      ? `it could not be started: ${message}`
      : reason === "timed-out"
        ? "it timed out and was ended with all that it had started"
        : reason === "killed"
          ? "it was ended"
          : signal !== null
            ? `it was ended by ${signal}`
            : `exit code ${code}`;
  return {
    content: [{ type: "text" as const, text: `${notes}${clamp(text)}${text.endsWith("\n") || text === "" ? "" : "\n"}[${how}]` }],
    isError: code !== 0,
  };
}

function lastLine(text: string): string {
  return (text.trimEnd().split("\n").at(-1) ?? "").slice(0, 200);
}
