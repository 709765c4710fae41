import type { Usage } from "svc/sdk";
import { type Envelope, type FinishReason, finishReasonOf, usageOf } from "./completion.ts";
import { errorJson, type Problem } from "./error-body.ts";

/** Longest piece of a call's arguments, in UTF-16 units. */
const MAX_ARGUMENT_PIECE = 256;

export const doneFrame = "data: [DONE]\n\n";
export const keepaliveFrame = ": keepalive\n\n";

/** The frames of one streamed answer. What all share is serialised once. */
export interface Chunks {
  role(): string;
  text(delta: string): string;
  reasoning(delta: string): string;
  /** Opens call number `index`. */
  callStart(index: number, call: { id: string; name: string }): string;
  /** Further arguments of a call. */
  callArguments(index: number, text: string): string[];
  finish(reason: FinishReason): string;
  usage(usage: Usage): string;
}

/** @param options `isLegacy`: calls in the form of `functions` */
export function createChunks({ id, created, model }: Envelope, { isLegacy = false } = {}): Chunks {
  const head = `data: {"id":${JSON.stringify(id)},"object":"chat.completion.chunk","created":${created},"model":${JSON.stringify(model)},"choices":[`;
  const choice = (delta: string, reason: string | null = null) =>
    `${head}{"index":0,"delta":${delta},"finish_reason":${JSON.stringify(reason)}}]}\n\n`;
  const part = (index: number, value: { function: object; id?: string; type?: "function" }) =>
    choice(JSON.stringify(isLegacy ? { function_call: value.function } : { tool_calls: [{ index, ...value }] }));
  return {
    role: () => choice('{"role":"assistant"}'),
    text: (delta) => choice(`{"content":${JSON.stringify(delta)}}`),
    reasoning: (delta) => choice(`{"reasoning_content":${JSON.stringify(delta)}}`),
    callStart: (index, { id: callId, name }) => part(index, { id: callId, type: "function", function: { name, arguments: "" } }),
    callArguments: (index, text) => pieces(text).map((piece) => part(index, { function: { arguments: piece } })),
    finish: (reason) => choice("{}", finishReasonOf(reason, isLegacy)),
    usage: (usage) => `${head}],"usage":${JSON.stringify(usageOf(usage))}}\n\n`,
  };
}

export function errorFrame(problem: Problem): string {
  return `data: ${errorJson(problem)}\n\n`;
}

/** Cuts text into pieces that never split a surrogate pair. */
export function pieces(text: string, size = MAX_ARGUMENT_PIECE): string[] {
  const out: string[] = [];
  for (let at = 0; at < text.length; ) {
    const end = at + size;
    const splits = end < text.length && /[\ud800-\udbff]/.test(text.charAt(end - 1)) && /[\udc00-\udfff]/.test(text.charAt(end));
    out.push(text.slice(at, splits ? end - 1 : end));
    at = splits ? end - 1 : end;
  }
  return out;
}
