import { ModelError } from "../../define.ts";
import type { ModelDelta, Usage, VendorMeta } from "../../types/model.ts";

type Finish = Extract<ModelDelta, { type: "finish" }>["reason"];
type Count = number | undefined;

interface WithMeta {
  id: string;
  providerMetadata?: VendorMeta | undefined;
}

/** End of a stream. */
export interface FinishPart {
  type: "finish";
  usage: {
    inputTokens: { total: Count; noCache: Count; cacheRead: Count; cacheWrite: Count };
    outputTokens: { total: Count; reasoning: Count };
    raw?: unknown;
  };
  /** `raw`: in the vendor's words; absent when the vendor said nothing. */
  finishReason: { unified: string; raw: string | undefined };
}

/** Parts of a stream of the AI SDK, specification V3. Those without fields here are passed over. */
export type StreamPart =
  | ({ type: "text-delta" | "reasoning-delta" | "tool-input-delta"; delta: string } & WithMeta)
  | ({ type: "reasoning-start" | "reasoning-end" | "tool-input-end" } & WithMeta)
  | ({ type: "tool-input-start"; toolName: string } & WithMeta)
  | { type: "tool-call"; toolCallId: string; toolName: string; input: string; providerMetadata?: VendorMeta | undefined }
  | { type: "error"; error: unknown }
  | {
      type:
        | "text-start"
        | "text-end"
        | "file"
        | "source"
        | "tool-result"
        | "tool-approval-request"
        | "stream-start"
        | "response-metadata"
        | "raw";
    }
  | FinishPart;

export interface DeltaRules {
  /** An answer whose vendor gave no reason for its end was cut off; default false: such an end is taken as it is. */
  endsWithReason?: boolean;
  /** Data of the vendor about texts is kept and goes back; default false: it is about what is shown, as a citation. */
  keepsTextMeta?: boolean;
  /** True for a reasoning block that the vendor shows sealed only. */
  isRedacted?(meta: VendorMeta): boolean;
}

/**
 * The vendor package's stream in our words.
 * @throws what the stream reported as an error, as it came
 */
export async function* toDeltas(parts: AsyncIterable<StreamPart>, rules: DeltaRules = {}): AsyncIterable<ModelDelta> {
  const deltas: ModelDelta[] = [];
  const read = createDeltaReader((delta) => deltas.push(delta), rules);
  for await (const part of parts) {
    const isEnd = read(part);
    for (const delta of deltas) yield delta;
    deltas.length = 0;
    if (isEnd) return;
  }
  throw cutOff();
}

/**
 * Reads a vendor package's stream part by part.
 * @returns a function that is true at the end of the answer; it throws what the stream reports as an error, as it came
 */
export function createDeltaReader(put: (delta: ModelDelta) => void, rules: DeltaRules = {}): (part: StreamPart) => boolean {
  const calls = new Map<string, { name: string; hasEnded: boolean }>();
  const readText = ({ delta, providerMetadata }: { delta: string } & WithMeta) => {
    const meta = rules.keepsTextMeta ? providerMetadata : undefined;
    if (delta !== "" || meta !== undefined) put({ type: "text", delta, ...(meta === undefined ? {} : { meta }) });
  };
  return (part) => {
    switch (part.type) {
      case "text-delta":
        readText(part);
        return false;
      case "reasoning-start":
      case "reasoning-end":
      case "reasoning-delta": {
        const delta = part.type === "reasoning-delta" ? part.delta : "";
        const { providerMetadata: meta } = part;
        if (delta === "" && meta === undefined) return false;
        const redacted = meta && rules.isRedacted?.(meta) ? { redacted: true as const } : {};
        put({ type: "reasoning", delta, id: part.id, ...redacted, ...(meta === undefined ? {} : { meta }) });
        return false;
      }
      case "tool-input-start":
        calls.set(part.id, { name: part.toolName, hasEnded: false });
        put({ type: "toolCall", id: part.id, name: part.toolName, argsDelta: "" });
        return false;
      case "tool-input-delta":
        put({ type: "toolCall", id: part.id, name: calls.get(part.id)?.name ?? "", argsDelta: part.delta });
        return false;
      case "tool-call": {
        // The whole call, behind its pieces; some vendors send no pieces.
        const { toolCallId: id, providerMetadata: meta } = part;
        if (!calls.has(id)) put({ type: "toolCall", id, name: part.toolName, argsDelta: part.input });
        calls.set(id, { name: part.toolName, hasEnded: true });
        put({ type: "toolCallEnd", id, ...(meta === undefined ? {} : { meta }) });
        return false;
      }
      case "error":
        throw part.error;
      case "finish": {
        if (rules.endsWithReason && part.finishReason.raw === undefined) throw cutOff();
        // A call that was cut off has no end of its own.
        for (const [id, { hasEnded }] of calls) if (!hasEnded) put({ type: "toolCallEnd", id });
        put({ type: "usage", usage: toUsage(part.usage) });
        put({ type: "finish", reason: toReason(part.finishReason.unified) });
        return true;
      }
      default:
        return false;
    }
  };
}

function cutOff(): ModelError {
  return new ModelError("network", "the answer ended without a finish");
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

function toReason(unified: string): Finish {
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
