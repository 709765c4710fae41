import type { RunOutcome, Usage } from "svc/sdk";
import { errorResponse, type Problem } from "./error-body.ts";
import { type Demand, isMet, unmetDemand } from "./tools.ts";
import { toUpstreamProblem } from "./upstream.ts";

/** Fields that all parts of one answer share. `model` echoes the request. */
export interface Envelope {
  id: string;
  created: number;
  model: string;
}

export function createEnvelope(id: string, model: string | undefined, nowMs: number): Envelope {
  return { id, created: Math.floor(nowMs / 1000), model: model ?? "svc" };
}

/** Content of an answer without text and without calls. */
const noText = "No response from svc.";

export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter";

/** A settled run as the client is told about it. */
export type Verdict =
  | { ok: true; text: string; toolCalls: RunOutcome["toolCalls"]; finishReason: FinishReason; reasoning: string; usage: Usage }
  | { ok: false; problem: Problem };

/** Decides what a settled run means on this surface. Pure. */
export function judge(outcome: RunOutcome, demand: Demand | undefined): Verdict {
  const { toolCalls, usage, reasoning = "" } = outcome;
  const isWithheld = outcome.code === "REFUSAL" || outcome.stopReason === "content_filter";
  if (isWithheld) return { ok: true, text: outcome.text, toolCalls, finishReason: "content_filter", reasoning, usage };
  const isEmpty = outcome.status === "error" && outcome.code === "EMPTY_RESPONSE";
  if (outcome.status === "error" && !isEmpty) return { ok: false, problem: toUpstreamProblem(outcome) };
  if (demand && !isMet(demand, outcome.toolCalls)) {
    return { ok: false, problem: { status: 502, type: "api_error", code: null, message: unmetDemand(demand) } };
  }
  const isCut = outcome.stopReason === "length";
  if (toolCalls.length > 0) {
    return { ok: true, text: outcome.text, toolCalls, finishReason: isCut ? "length" : "tool_calls", reasoning, usage };
  }
  return {
    ok: true,
    text: outcome.text === "" ? noText : outcome.text,
    toolCalls,
    finishReason: isCut ? "length" : "stop",
    reasoning,
    usage,
  };
}

/** The answer without streaming. */
export function completionResponse(envelope: Envelope, verdict: Verdict, { isLegacy = false } = {}): Response {
  if (!verdict.ok) return errorResponse(verdict.problem);
  const calls = verdict.toolCalls.map(({ id, name, args }) => ({ id, type: "function", function: { name, arguments: argumentsOf(args) } }));
  const message = {
    role: "assistant",
    content: verdict.text,
    refusal: null,
    ...(verdict.reasoning === "" ? {} : { reasoning_content: verdict.reasoning }),
    ...(calls.length === 0 ? {} : isLegacy ? { function_call: calls[0]?.function } : { tool_calls: calls }),
  };
  const body = {
    id: envelope.id,
    object: "chat.completion",
    created: envelope.created,
    model: envelope.model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReasonOf(verdict.finishReason, isLegacy) }],
    usage: usageOf(verdict.usage),
  };
  return new Response(JSON.stringify(body), { headers: { "Content-Type": "application/json; charset=utf-8" } });
}

/** The legacy form of calls has its own reason. */
export function finishReasonOf(reason: FinishReason, isLegacy: boolean): FinishReason | "function_call" {
  return isLegacy && reason === "tool_calls" ? "function_call" : reason;
}

/** Arguments as the JSON text clients parse; what is no JSON object goes out as the model wrote it. */
export function argumentsOf(args: unknown): string {
  return typeof args === "string" ? args : JSON.stringify(args ?? {});
}

export function usageOf(usage: Usage): object {
  const prompt = usage.input + usage.cacheRead;
  return {
    prompt_tokens: prompt,
    completion_tokens: usage.output,
    total_tokens: Math.max(prompt + usage.output, usage.total),
    ...(usage.cacheRead > 0 ? { prompt_tokens_details: { cached_tokens: usage.cacheRead } } : {}),
    ...(usage.reasoning === undefined ? {} : { completion_tokens_details: { reasoning_tokens: usage.reasoning } }),
  };
}
