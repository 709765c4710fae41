import { type JsonObject, type ModelDelta, ModelError, type Usage } from "svc/sdk";

type Finish = Extract<ModelDelta, { type: "finish" }>["reason"];

/** An event of `ConverseStream`, as far as it is read. */
interface ConverseEvent {
  contentBlockStart?: { contentBlockIndex?: number; start?: { toolUse?: { toolUseId?: string; name?: string } } };
  contentBlockDelta?: {
    contentBlockIndex?: number;
    delta?: {
      text?: string;
      toolUse?: { input?: string };
      reasoningContent?: { text?: string; signature?: string; redactedContent?: Uint8Array };
    };
  };
  contentBlockStop?: { contentBlockIndex?: number };
  messageStop?: { stopReason?: string };
  metadata?: { usage?: Record<string, unknown> };
}

const finishes: Readonly<Record<string, Finish>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool_calls",
  content_filtered: "content_filter",
  guardrail_intervened: "content_filter",
};

/**
 * The events of one turn in our words. Unknown events are passed over.
 * @param options.ignoresCalls calls of the answer are left out
 * @throws {ModelError} `network` when the turn breaks off, or its end cannot be used
 */
export async function* toDeltas(
  events: AsyncIterable<JsonObject>,
  { ignoresCalls = false }: { ignoresCalls?: boolean } = {},
): AsyncIterable<ModelDelta> {
  const calls = new Map<number, { id: string; name: string }>();
  let stopReason: string | undefined;
  let usage: Usage | undefined;
  for await (const event of events as AsyncIterable<ConverseEvent>) {
    if (event.contentBlockStart) {
      const { contentBlockIndex = 0, start } = event.contentBlockStart;
      const { toolUseId: id, name } = start?.toolUse ?? {};
      if (id === undefined || name === undefined || ignoresCalls) continue;
      calls.set(contentBlockIndex, { id, name });
      yield { type: "toolCall", id, name, argsDelta: "" };
    } else if (event.contentBlockDelta) {
      const { contentBlockIndex = 0, delta = {} } = event.contentBlockDelta;
      const call = calls.get(contentBlockIndex);
      if (delta.text) yield { type: "text", delta: delta.text };
      if (delta.toolUse?.input && call) yield { type: "toolCall", ...call, argsDelta: delta.toolUse.input };
      if (delta.reasoningContent) yield reasoning(delta.reasoningContent, String(contentBlockIndex));
    } else if (event.contentBlockStop) {
      const call = calls.get(event.contentBlockStop.contentBlockIndex ?? 0);
      if (call) yield { type: "toolCallEnd", id: call.id };
    } else if (event.messageStop) {
      stopReason = event.messageStop.stopReason;
    } else if (event.metadata) {
      usage = toUsage(event.metadata.usage ?? {});
    }
  }
  if (stopReason === undefined) throw new ModelError("network", "the answer ended without a stop reason");
  if (stopReason.startsWith("malformed_")) throw new ModelError("network", `the model's output could not be used (${stopReason})`);
  if (usage) yield { type: "usage", usage };
  const finish = Object.hasOwn(finishes, stopReason) ? finishes[stopReason] : undefined;
  yield { type: "finish", reason: finish === "tool_calls" && ignoresCalls ? "stop" : (finish ?? "other") };
}

function reasoning(
  { text = "", signature, redactedContent }: { text?: string; signature?: string; redactedContent?: Uint8Array },
  id: string,
): ModelDelta {
  if (redactedContent) {
    const redacted = Buffer.from(redactedContent).toString("base64");
    return { type: "reasoning", delta: "", id, redacted: true, meta: { bedrock: { redacted } } };
  }
  return { type: "reasoning", delta: text, id, ...(signature === undefined ? {} : { meta: { bedrock: { signature } } }) };
}

function toUsage(usage: Record<string, unknown>): Usage {
  const count = (name: string) => {
    const value = usage[name];
    return typeof value === "number" && value >= 0 && value <= 1_000_000_000 ? Math.floor(value) : 0;
  };
  const [input, output, cacheRead, cacheWrite] = ["inputTokens", "outputTokens", "cacheReadInputTokens", "cacheWriteInputTokens"].map(
    count,
  ) as [number, number, number, number];
  return { input, output, cacheRead, cacheWrite, total: Math.max(input + output + cacheRead + cacheWrite, count("totalTokens")) };
}
