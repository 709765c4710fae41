import type { Usage } from "svc/sdk";
import { argumentsOf, type Verdict } from "../completion.ts";
import type { Problem } from "../error-body.ts";
import { uuidOf } from "../idempotency.ts";
import type { Echo } from "./request.ts";

/** Fields that all forms of one response share. */
export interface ResponseHead {
  /** `resp_<uuid>`; the id of its run as well. */
  id: string;
  createdAtMs: number;
  model: string;
  previousResponseId: string | undefined;
  echo: Echo;
}

type Status = "in_progress" | "completed" | "incomplete" | "failed";
/** A run that ended with an answer. */
export type Answer = Verdict & { ok: true };

/** The response object; every key is always there. */
export function responseObject(
  head: ResponseHead,
  end: { status: Status; completedAtMs?: number; output?: object[]; usage?: Usage; incomplete?: string; problem?: Problem },
): object {
  const { status, completedAtMs, output = [], usage, incomplete, problem } = end;
  return {
    id: head.id,
    object: "response",
    created_at: seconds(head.createdAtMs),
    completed_at: completedAtMs === undefined ? null : seconds(completedAtMs),
    status,
    incomplete_details: incomplete === undefined ? null : { reason: incomplete },
    model: head.model,
    previous_response_id: head.previousResponseId ?? null,
    output,
    error: problem === undefined ? null : responseError(problem),
    usage: usage === undefined ? null : responseUsage(usage),
    ...head.echo,
  };
}

/** The response of an answer; a repeat is told the same time of its end. */
export function answeredResponse(
  head: ResponseHead,
  answer: Answer,
  { endedAtMs = head.createdAtMs, output = outputItems(head, answer) }: { endedAtMs: number | undefined; output?: object[] },
): object {
  const incomplete = incompleteReason(answer);
  return responseObject(head, {
    status: incomplete === undefined ? "completed" : "incomplete",
    ...(incomplete === undefined ? { completedAtMs: endedAtMs } : { incomplete }),
    output,
    usage: answer.usage,
  });
}

/** A run that ended without one. */
export function failedResponse(head: ResponseHead, problem: Problem): object {
  return responseObject(head, { status: "failed", problem });
}

/** Why an answer is not whole; undefined for one that is. */
export function incompleteReason({ finishReason }: Answer): string | undefined {
  const reason: string = finishReason;
  if (reason === "length") return "max_output_tokens";
  return reason === "content_filter" ? "content_filter" : undefined;
}

/** The text first, then the calls; no message beside calls that came without text. */
function outputItems(head: ResponseHead, verdict: Answer): object[] {
  const { text, toolCalls } = verdict;
  const status = incompleteReason(verdict) === undefined ? "completed" : "incomplete";
  const phase = phaseOf(verdict);
  return [
    ...(text === "" ? [] : [messageItem(head, { status, phase, text })]),
    ...toolCalls.map((call) => callItem(head, call, { status: callStatus(call), args: argumentsOf(call.args) })),
  ];
}

export type Phase = "commentary" | "final_answer";

/** Text before calls is not the answer yet. */
export function phaseOf({ toolCalls }: Answer): Phase {
  return toolCalls.length > 0 ? "commentary" : "final_answer";
}

/** The one message of a response. Its id is that of the response, so that a later request may name it. */
export function messageId({ id }: ResponseHead): string {
  return id.replace(/^resp_/, "msg_");
}

/** Id of the response that a message is part of. */
export function responseOfMessage(itemId: string): string | undefined {
  return /^msg_[0-9a-f-]{36}$/.test(itemId) ? itemId.replace(/^msg_/, "resp_") : undefined;
}

/** @param message without `text`: nothing is written yet; without `phase`: what follows decides it, and the API has no word for that */
export function messageItem(
  head: ResponseHead,
  { status, phase, text }: { status: Exclude<Status, "failed">; phase?: Phase; text?: string },
): object {
  const content = text === undefined ? [] : [textPart(text)];
  return { type: "message", id: messageId(head), status, role: "assistant", ...(phase === undefined ? {} : { phase }), content };
}

export function textPart(text: string): object {
  return { type: "output_text", text, annotations: [], logprobs: [] };
}

/** A call of which only a text is there was cut off, or is no JSON object: it is not one to carry out. */
export function callStatus({ args }: { args: unknown }): "completed" | "incomplete" {
  return typeof args === "string" ? "incomplete" : "completed";
}

/** @param call as the agent made it; `call_id` is the id to answer */
export function callItem(
  head: ResponseHead,
  call: { id: string; name: string },
  { status, args }: { status: "in_progress" | "completed" | "incomplete"; args: string },
): { id: string } & Record<string, unknown> {
  return { type: "function_call", id: `fc_${uuidOf(`${head.id} ${call.id}`)}`, call_id: call.id, name: call.name, arguments: args, status };
}

/** Codes that clients know; the type says the same in the words of the other endpoints. */
function responseError({ status, type, code, message }: Problem): object {
  const known = status === 429 ? "rate_limit_exceeded" : status >= 500 ? "server_error" : type;
  return { code: code ?? known, message, type, param: null };
}

function responseUsage(usage: Usage): object {
  const input = usage.input + usage.cacheRead;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: usage.cacheRead },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning ?? 0 },
    total_tokens: Math.max(input + usage.output, usage.total),
  };
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000);
}
