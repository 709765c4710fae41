import { ModelError } from "../define.ts";
import type { ModelDelta, ModelFault, ModelProvider, ModelRequest, Usage, VendorMeta } from "../types/model.ts";

/** One turn of a scripted model: what it streams, or how it fails. A string is a turn of text. */
export type FakeTurn =
  | string
  | {
      /** Sent word by word. */
      text?: string;
      reasoning?: string;
      /** The vendor's data about the reasoning. */
      reasoningMeta?: VendorMeta;
      toolCalls?: Array<{ name: string; args: unknown; id?: string }>;
      usage?: Partial<Usage>;
      finish?: Extract<ModelDelta, { type: "finish" }>["reason"];
      /** Fails after the text, if there is some. */
      fault?: ModelFault;
      retryAfterMs?: number;
      /** Sends the text, then nothing more until it is aborted. */
      hang?: boolean;
    };

/** A model provider that answers from a script and remembers what it was asked. */
export interface FakeModel extends ModelProvider {
  /** Every request so far, oldest first. */
  readonly requests: ModelRequest[];
}

/**
 * A model provider for tests: turn n answers the n-th request.
 * @param script turns, or a function that makes one from the request; a request past the end fails with `invalid_request`
 * @param options.id provider id, default `fake`; its one model is called `script`
 */
export function fakeModel(script: ReadonlyArray<FakeTurn | ((req: ModelRequest) => FakeTurn)>, options: { id?: string } = {}): FakeModel {
  const requests: ModelRequest[] = [];
  return {
    id: options.id ?? "fake",
    name: "Scripted model",
    defaultModel: "script",
    requests,
    models: () => [{ id: "script", name: "Script", input: ["text"] }],
    available: () => ({ ok: true }),
    async *stream(req, { signal }) {
      requests.push(req);
      const step = script[requests.length - 1];
      if (step === undefined)
        throw new ModelError("invalid_request", `the script has ${script.length} turns, this is request ${requests.length}`);
      yield* play(typeof step === "function" ? step(req) : step, { signal, turn: requests.length });
    },
  };
}

async function* play(turn: FakeTurn, at: { signal: AbortSignal; turn: number }): AsyncGenerator<ModelDelta> {
  const spec = typeof turn === "string" ? { text: turn } : turn;
  at.signal.throwIfAborted();
  if (spec.reasoning) yield { type: "reasoning", delta: spec.reasoning };
  if (spec.reasoningMeta) yield { type: "reasoning", delta: "", meta: spec.reasoningMeta };
  for (const delta of spec.text?.match(/\S+\s*|\s+/g) ?? []) {
    at.signal.throwIfAborted();
    yield { type: "text", delta };
  }
  if (spec.hang) await aborted(at.signal);
  if (spec.fault) {
    const wait = spec.retryAfterMs === undefined ? {} : { retryAfterMs: spec.retryAfterMs };
    throw new ModelError(spec.fault, `the script fails turn ${at.turn} with ${spec.fault}`, wait);
  }
  const calls = spec.toolCalls ?? [];
  for (const [i, call] of calls.entries()) {
    const id = call.id ?? `call-${at.turn}-${i + 1}`;
    yield { type: "toolCall", id, name: call.name, argsDelta: JSON.stringify(call.args) };
    yield { type: "toolCallEnd", id };
  }
  yield { type: "usage", usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0, ...spec.usage } };
  yield { type: "finish", reason: spec.finish ?? (calls.length > 0 ? "tool_calls" : "stop") };
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const fail = () => reject(new DOMException("the turn was aborted", "AbortError"));
    if (signal.aborted) fail();
    else signal.addEventListener("abort", fail, { once: true });
  });
}
