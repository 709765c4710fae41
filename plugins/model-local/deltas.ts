import { randomUUID } from "node:crypto";
import type { LocalChatPiece, ModelDelta, ModelToolSpec, VendorMeta } from "svc/sdk";
import { withoutNulls } from "./grammar-schema.ts";

type Finish = Extract<LocalChatPiece, { type: "finish" }>;
type DeltaReason = Extract<ModelDelta, { type: "finish" }>["reason"];

const reasons: Readonly<Record<Finish["reason"], DeltaReason>> = { stop: "stop", length: "length", calls: "tool_calls" };

interface Call {
  id: string;
  name: string;
  /** Arguments as far as they were written. */
  text: string;
}

/** An answer of the runtime as deltas. Arguments come when their call is complete, without the nulls of what was left out; of a call that was cut off, what was written. */
export async function* toDeltas(pieces: AsyncIterable<LocalChatPiece>, tools: readonly ModelToolSpec[]): AsyncGenerator<ModelDelta> {
  const calls = new Map<number, Call>();
  for await (const piece of pieces) {
    switch (piece.type) {
      case "text":
        yield { type: "text", delta: piece.text };
        break;
      case "thought":
        yield { type: "reasoning", delta: piece.text };
        break;
      case "call": {
        const known = calls.get(piece.index);
        const call = known ?? newCall(piece.name);
        calls.set(piece.index, call);
        call.text += piece.text;
        if (!known) yield { type: "toolCall", id: call.id, name: call.name, argsDelta: "" };
        break;
      }
      case "finish":
        yield* ending(piece, { calls, tools });
        return;
    }
  }
}

function* ending(
  finish: Finish,
  { calls, tools }: { calls: ReadonlyMap<number, Call>; tools: readonly ModelToolSpec[] },
): Generator<ModelDelta> {
  for (const [index, { name, params, raw }] of finish.calls.entries()) {
    const { id } = calls.get(index) ?? newCall(name);
    const schema = tools.find((tool) => tool.name === name)?.inputSchema ?? {};
    yield { type: "toolCall", id, name, argsDelta: JSON.stringify(withoutNulls(params ?? {}, schema)) };
    yield { type: "toolCallEnd", id, ...(raw === undefined ? {} : { meta: { raw } as VendorMeta }) };
  }
  for (const [index, { id, name, text }] of calls) {
    if (index >= finish.calls.length && text !== "") yield { type: "toolCall", id, name, argsDelta: text };
  }
  const { prompt, cached, output, thought } = finish.usage;
  const usage = { input: prompt - cached, output, cacheRead: cached, cacheWrite: 0, total: prompt + output };
  yield { type: "usage", usage: thought > 0 ? { ...usage, reasoning: thought } : usage };
  yield { type: "finish", reason: reasons[finish.reason] };
}

function newCall(name: string): Call {
  return { id: `call_${randomUUID()}`, name, text: "" };
}
