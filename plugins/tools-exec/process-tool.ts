import { sleep, type Tool, z } from "svc/sdk";
import { execErrors } from "./errors.ts";
import { report } from "./exec-tool.ts";
import type { LiveCommand, LiveCommands } from "./live-commands.ts";
import { clamp } from "./output.ts";
import { MAX_UNREAD_BYTES } from "./running-command.ts";

const input = z.strictObject({
  action: z
    .enum(["poll", "write", "kill", "list"])
    .describe("poll: new output and whether it has ended; write: to its standard input; kill: end it; list: all of yours"),
  id: z.string().max(20).optional().describe("Id that exec returned"),
  text: z.string().max(65_536).optional().describe("Text to write; end a line with \\n"),
  waitSeconds: z.number().int().min(0).max(30).optional().describe("poll: wait so long for its end or for output"),
});

/** `process`: the agent's own background commands. */
export function processTool(live: LiveCommands): Tool<z.output<typeof input>> {
  return {
    name: "process",
    description: "Looks after commands that exec started in the background: read new output, write to them, end them.",
    input,
    async run({ action, id, text, waitSeconds = 0 }, { agentId, sessionKey, origin, signal }) {
      if (action === "list") return { commands: live.list({ agentId, sessionKey, origin }).map(shown) };
      const found = live.of({ agentId, sessionKey, origin }, id ?? "");
      if (!found)
        throw execErrors.commandInvalid({
          field: "id",
          reason: `there is no command ${JSON.stringify(id ?? "")} of yours; see process {action: "list"}`,
        });
      const { running } = found;
      if (action === "write") {
        const outcome = running.write(text ?? "");
        if (outcome === "closed") throw execErrors.commandInvalid({ field: "id", reason: `${found.id} takes no input any more` });
        if (outcome === "full")
          throw execErrors.commandInvalid({
            field: "text",
            reason: `${found.id} has not read what was written before (at most ${MAX_UNREAD_BYTES} bytes wait); try again later`,
          });
        return "Written.";
      }
      if (action === "kill") {
        running.end("killed");
        await running.done;
      } else await news(found, waitSeconds * 1_000, signal);
      const { text: fresh, lost, end } = running.output.from(found.seen);
      found.seen = end;
      return running.ended ? report(running.ended, { text: fresh, lost }) : `${clamp(fresh)}\n[${found.id} is running]`;
    },
  };
}

/** Waits until there is output that was not read, the command ends, or the time is over. */
async function news({ running, seen }: LiveCommand, waitMs: number, signal: AbortSignal): Promise<void> {
  const step = 100;
  for (let waited = 0; waited < waitMs && !running.ended && running.output.written === seen; waited += step) await sleep(step, signal);
}

function shown({ id, shown: command, startedAt, running }: LiveCommand) {
  return {
    id,
    command,
    startedAt: new Date(startedAt).toISOString(),
    state: running.ended ? "ended" : "running",
    bytes: running.output.written,
  };
}
