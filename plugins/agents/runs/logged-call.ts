import { messageOf } from "svc/sdk";
import type { Kit } from "../kit.ts";
import type { Candidate } from "../models/choice.ts";
import type { TurnResult } from "../models/turn.ts";
import type { Prompt } from "./prompt.ts";
import type { Run } from "./run.ts";

/** Records each call of a model: two lines in the log, figures, a span; never the texts. */
export async function loggedCall(
  run: Pick<Run, "id">,
  kit: Pick<Kit, "ctx" | "figures">,
  { candidate, prompt }: { candidate: Candidate; prompt: Pick<Prompt, "messages" | "tools" | "thinking"> },
  call: () => Promise<TurnResult>,
): Promise<TurnResult> {
  const { logger } = kit.ctx;
  const startedAt = kit.ctx.clock.monotonic();
  const head = () => ({ runId: run.id, provider: candidate.provider.id, model: candidate.model });
  const ms = () => Math.round(kit.ctx.clock.monotonic() - startedAt);
  logger.debug("model call", () => ({
    ...head(),
    messages: prompt.messages.length,
    tools: prompt.tools.length,
    thinking: prompt.thinking,
  }));
  const by = { provider: candidate.provider.id, model: candidate.model };
  try {
    const result = await tracedCall(kit, by, call);
    kit.figures.modelCalled({ ...by, ms: ms() }, result);
    logger.debug("model answered", () => {
      const { finish, usage, text, toolCalls } = result;
      return {
        ...head(),
        ms: ms(),
        finish,
        tokensIn: usage.input,
        tokensOut: usage.output,
        chars: text.length,
        toolCalls: toolCalls.length,
      };
    });
    return result;
  } catch (error) {
    kit.figures.modelCalled({ ...by, ms: ms() }, undefined, error);
    logger.debug("model call failed", () => ({ ...head(), ms: ms(), reason: messageOf(error) }));
    throw error;
  }
}

function tracedCall(
  kit: Pick<Kit, "ctx">,
  { provider, model }: { provider: string; model: string },
  call: () => Promise<TurnResult>,
): Promise<TurnResult> {
  const attributes = { "gen_ai.operation.name": "chat", "gen_ai.provider.name": provider, "gen_ai.request.model": model };
  return kit.ctx.tracing.span(`chat ${model}`, { kind: "client", attributes }, async (span) => {
    const result = await call();
    const { finish, usage } = result;
    span.set({
      "gen_ai.response.finish_reasons": finish,
      "gen_ai.usage.input_tokens": usage.input,
      "gen_ai.usage.output_tokens": usage.output,
    });
    return result;
  });
}
