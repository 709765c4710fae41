import { type ModelDelta, ModelError, type Usage } from "svc/sdk";
import type { ChatModel } from "./request.ts";

type PartStream = Awaited<ReturnType<ChatModel["doStream"]>>["stream"];
export type StreamPart = PartStream extends ReadableStream<infer Part> ? Part : never;
type FinishPart = Extract<StreamPart, { type: "finish" }>;

/**
 * The vendor package's stream in our words.
 * @throws what the stream reported as an error, as it came
 */
export async function* toDeltas(parts: AsyncIterable<StreamPart>): AsyncIterable<ModelDelta> {
  const names = new Map<string, string>();
  for await (const part of parts) {
    switch (part.type) {
      case "text-delta":
        if (part.delta !== "") yield { type: "text", delta: part.delta };
        break;
      case "reasoning-delta":
        if (part.delta !== "") yield { type: "reasoning", delta: part.delta };
        break;
      case "tool-input-start":
        names.set(part.id, part.toolName);
        yield { type: "toolCall", id: part.id, name: part.toolName, argsDelta: "" };
        break;
      case "tool-input-delta":
        yield { type: "toolCall", id: part.id, name: names.get(part.id) ?? "", argsDelta: part.delta };
        break;
      case "tool-input-end":
        yield { type: "toolCallEnd", id: part.id };
        break;
      case "error":
        throw part.error;
      case "finish":
        yield { type: "usage", usage: toUsage(part.usage) };
        yield { type: "finish", reason: toReason(part.finishReason) };
        return;
    }
  }
  throw new ModelError("network", "the answer ended without a finish");
}

function toUsage(usage: FinishPart["usage"]): Usage {
  const cacheRead = countOf(usage.inputTokens.cacheRead);
  const cacheWrite = countOf(usage.inputTokens.cacheWrite);
  const input = countOf(usage.inputTokens.noCache ?? countOf(usage.inputTokens.total) - cacheRead);
  const output = countOf(usage.outputTokens.total);
  const reported = (usage.raw as { total_tokens?: unknown } | undefined)?.total_tokens;
  const total = Math.max(input + cacheRead + cacheWrite + output, countOf(reported));
  const reasoning = countOf(usage.outputTokens.reasoning);
  return { input, output, cacheRead, cacheWrite, ...(reasoning ? { reasoning } : {}), total };
}

/** More than any vendor bills for a turn. Counts are summed up for the life of a session, so one that is none would spoil them all. */
const MAX_TOKENS = 1_000_000_000;

function countOf(value: unknown): number {
  return typeof value === "number" && value >= 0 && value <= MAX_TOKENS ? Math.floor(value) : 0;
}

function toReason({ unified }: FinishPart["finishReason"]): Extract<ModelDelta, { type: "finish" }>["reason"] {
  switch (unified) {
    case "stop":
    case "length":
      return unified;
    case "tool-calls":
      return "tool_calls";
    case "content-filter":
      return "content_filter";
    default:
      return "other";
  }
}
