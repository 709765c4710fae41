import { randomUUID } from "node:crypto";
import type { RunEvent, RunHandle, RunRequest } from "svc/sdk";
import { hasScope } from "svc/sdk/internal";
import type { Kit } from "../kit.ts";
import { noUsage } from "../models/turn.ts";
import { isStatelessKey } from "../sessions/stateless-key.ts";
import { chatCommandOf, obeyInChat, scopeOfMessage } from "./chat-command.ts";
import type { Runner } from "./runner.ts";

/**
 * Answers a message of an HTTP client that is a command, without a model; undefined for all others. In a conversation that the client brings along each time there
 * is nothing to command: such a message is text, and so is one with tools, media or results beside it.
 */
export async function commandRun(request: RunRequest, { kit, runner }: { kit: Kit; runner: Runner }): Promise<RunHandle | undefined> {
  const { actor, message } = request;
  if (actor.kind !== "http" || request.trigger !== "user" || !isPlain(request)) return undefined;
  const { agentId, sessionKey } = kit.directory.resolve(request);
  const found = isStatelessKey(sessionKey) ? undefined : chatCommandOf(kit, message);
  if (found?.rest !== "") return undefined;
  const runId = request.runId ?? randomUUID();
  const acceptedAt = kit.ctx.clock.now();
  const { place, tools } = request;
  const command = { key: runId, agentId, sessionKey, message, ...(place ? { place } : {}), ...(tools ? { tools } : {}) };
  const text = missingScope(kit, request) ?? (await obeyInChat(command, { kit, runner, actor }))?.text;
  if (text === undefined) return undefined;
  const sessionId = (await kit.store().sessions.get(sessionKey))?.sessionId ?? "";
  const ids = { runId, sessionKey, sessionId, agentId };
  const endedAt = kit.ctx.clock.now();
  const event = (seq: number, stream: RunEvent["stream"], data: RunEvent["data"]): RunEvent => ({ ...ids, seq, stream, ts: endedAt, data });
  const outcome = { status: "ok" as const, text, toolCalls: [], usage: noUsage, stopReason: "stop", startedAt: acceptedAt, endedAt };
  return {
    ...ids,
    acceptedAt,
    state: "started",
    async *events() {
      yield event(1, "assistant", { text, delta: text, itemId: runId });
      yield event(2, "lifecycle", { phase: "end", startedAt: acceptedAt, endedAt, stopReason: "stop" });
    },
    done: Promise.resolve(outcome),
    abort: () => undefined,
  };
}

function isPlain({ attachments, toolResults, clientTools, sampling }: RunRequest): boolean {
  const format = sampling?.responseFormat?.type ?? "text";
  return format === "text" && [attachments, toolResults, clientTools].every((list) => (list ?? []).length === 0);
}

/** Sentence for a caller who may not do what the command does; undefined for one who may. */
function missingScope(kit: Kit, { message, actor }: RunRequest): string | undefined {
  const scope = `operator.${scopeOfMessage(kit, message)}` as const;
  return hasScope(actor.scopes, scope) ? undefined : `This needs the scope ${scope}; nothing was done.`;
}
