import { messageOf } from "svc/sdk";
import type { Kit } from "../kit.ts";
import { infoOf } from "../models/catalog.ts";
import type { Candidate } from "../models/choice.ts";
import { withCost } from "../models/cost.ts";
import { readTurn } from "../models/turn.ts";
import { isStatelessKey } from "../sessions/stateless-key.ts";
import { isoDay } from "../workspace/files.ts";
import { type Prompt, withText } from "./prompt.ts";
import { forModel } from "./replay-to-model.ts";
import type { Run } from "./run.ts";

/** Longest time for it, calls of tools included. */
const LIMIT_MS = 60_000;
/** Tools that write notes. */
const writers: ReadonlySet<string> = new Set(["memory_append", "write", "edit"]);

interface Flush {
  candidate: Candidate;
  prompt: Prompt;
  /** The request fits the window. */
  fits: boolean;
}

/**
 * Gives the agent one turn to write down what a compaction may lose, with tools that write notes and no others. Nobody sees what it says; a failure is logged, and
 * the run goes on. Left out in groups, hooks and heartbeats, and where there is no such tool.
 */
export async function flushMemory(run: Run, kit: Kit, { candidate, prompt, fits }: Flush): Promise<void> {
  const tools = prompt.tools.filter(({ name }) => writers.has(name));
  if (run.hasFlushed || !fits || tools.length === 0 || candidate.provider.embedded || !kit.toolSupport.has(candidate)) return;
  if (run.request.trigger !== "user" || run.heartbeat || isStatelessKey(run.sessionKey) || run.request.toolChoice === "none") return;
  if ((await kit.store().sessions.get(run.sessionKey))?.kind === "group") return;
  run.hasFlushed = true;
  const signal = AbortSignal.any([run.signal, AbortSignal.timeout(LIMIT_MS)]);
  try {
    await takeTurn(run, kit, { candidate, prompt: { ...prompt, tools }, signal });
  } catch (error) {
    run.signal.throwIfAborted();
    kit.ctx.logger.warn(`run ${run.id}: the agent could not write notes before older messages are summed up`, { reason: messageOf(error) });
  }
}

async function takeTurn(
  run: Run,
  kit: Kit,
  { candidate, prompt, signal }: { candidate: Candidate; prompt: Prompt; signal: AbortSignal },
): Promise<void> {
  const { provider, model } = candidate;
  const info = infoOf(kit.catalog, candidate);
  const day = isoDay(new Date(kit.ctx.clock.now()));
  const messages = withText(prompt.messages, textFor(day));
  const request = {
    model,
    system: prompt.system,
    messages: forModel(messages, { provider: provider.id, model, input: info?.input }),
    tools: prompt.tools,
    thinking: "off",
    cacheKey: prompt.cacheKey,
    context: { agentId: run.agent.id, sessionKey: run.sessionKey, runId: run.id, trigger: run.request.trigger },
  };
  const made = await readTurn((stop) => provider.stream(request, { signal: stop }), { signal, idleMs: LIMIT_MS, onText: () => undefined });
  run.countAside(withCost(made.usage, info?.cost), "notes");
  const ids = { agentId: run.agent.id, sessionKey: run.sessionKey, runId: run.id };
  const target = { ...ids, signal, origin: run.origin, tools: run.request.tools };
  for (const { id, name, args, broken } of made.toolCalls) {
    if (broken !== undefined || !writers.has(name)) continue;
    const result = await kit.tools.invoke(run.agent, { name, args }, { ...target, toolCallId: id });
    kit.ctx.logger.debug("notes written before a compaction", () => ({ runId: run.id, tool: name, isError: result.isError === true }));
  }
}

function textFor(day: string): string {
  return `System: The older part of this conversation is about to be replaced by a summary. Write lasting facts that are not in memory yet to \`memory/${day}.md\` now, and do nothing else: the last message is answered afterwards. If there is nothing to keep, answer NO_REPLY.`;
}
