import { whileAlive } from "../common/abort.ts";
import type { Kit } from "../kit.ts";
import { RunFailure } from "./failure.ts";
import { blankRow, type LoopResult } from "./loop.ts";
import type { Run } from "./run.ts";

/** Stop reason of a run that a plugin ended without a word. */
export const SILENCE = "silence";

const idsOf = (run: Run) => ({ runId: run.id, agentId: run.agent.id, sessionKey: run.sessionKey });

/** Lets plugins refuse a run. @throws {RunFailure} `BLOCKED` */
export async function admit(run: Run, kit: Kit): Promise<void> {
  run.signal.throwIfAborted();
  if (!kit.ctx.isHookUsed("agent.before")) return;
  const ids = idsOf(run);
  const event = { ...ids, prompt: run.prompt, trigger: run.request.trigger };
  const verdict = await whileAlive(kit.ctx.runHook("agent.before", event, { signal: run.signal, ...ids }), run.signal);
  if (verdict.block) throw new RunFailure("BLOCKED", verdict.reason);
}

/** Lets plugins answer in the place of the model. Undefined: nobody did. */
export async function replied(run: Run, kit: Kit): Promise<LoopResult | undefined> {
  if (!kit.ctx.isHookUsed("agent.reply")) return undefined;
  const ids = idsOf(run);
  const event = { ...ids, prompt: run.prompt, trigger: run.request.trigger };
  const claim = await whileAlive(kit.ctx.runHook("agent.reply", event, { signal: run.signal, ...ids }), run.signal);
  if (!claim) return undefined;
  const text = claim.reply ?? "";
  if (text.trim() === "") return { last: undefined, toolCalls: [], stopReason: SILENCE };
  run.beginMessage();
  kit.events.text(run, text);
  kit.events.textEnd(run);
  run.endMessage();
  const last = { ...blankRow(run, kit), role: "assistant" as const, content: [{ type: "text" as const, text }], stopReason: "stop" };
  return { last, toolCalls: [], stopReason: "stop" };
}
