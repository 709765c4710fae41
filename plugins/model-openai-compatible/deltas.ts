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
  const cacheRead = usage.inputTokens.cacheRead ?? 0;
  const cacheWrite = usage.inputTokens.cacheWrite ?? 0;
  const input = usage.inputTokens.noCache ?? Math.max(0, (usage.inputTokens.total ?? 0) - cacheRead);
  const output = usage.outputTokens.total ?? 0;
  const reported = (usage.raw as { total_tokens?: unknown } | undefined)?.total_tokens;
  const total = Math.max(input + cacheRead + cacheWrite + output, typeof reported === "number" ? reported : 0);
  const reasoning = usage.outputTokens.reasoning;
  return { input, output, cacheRead, cacheWrite, ...(reasoning ? { reasoning } : {}), total };
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
