import { ModelError } from "../define.ts";
import type { ModelDelta, ModelFault, ModelInfo, ModelProvider, ModelRequest, Usage, VendorMeta } from "../types/model.ts";

/** One turn of a scripted model: what it streams, or how it fails. A string is a turn of text. */
export type FakeTurn =
  | string
  | {
      /** Sent word by word. */
      text?: string;
      /** Sent before the text; a list: one block each. */
      reasoning?: string | Array<{ text: string; redacted?: true; meta?: VendorMeta }>;
      /** The vendor's data about reasoning that is one text. */
      reasoningMeta?: VendorMeta;
      toolCalls?: Array<{ name: string; args: unknown; id?: string; meta?: VendorMeta }>;
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
 * @param options.info facts of that model
 */
export function fakeModel(
  script: ReadonlyArray<FakeTurn | ((req: ModelRequest) => FakeTurn)>,
  options: { id?: string; info?: Omit<ModelInfo, "id"> } = {},
): FakeModel {
  const requests: ModelRequest[] = [];
  return {
    id: options.id ?? "fake",
    name: "Scripted model",
    defaultModel: "script",
    requests,
    models: () => [{ id: "script", name: "Script", input: ["text"], ...options.info }],
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
  yield* reasoningOf(spec);
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
    yield { type: "toolCallEnd", id, ...(call.meta === undefined ? {} : { meta: call.meta }) };
  }
  yield { type: "usage", usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0, ...spec.usage } };
  yield { type: "finish", reason: spec.finish ?? (calls.length > 0 ? "tool_calls" : "stop") };
}

/** A vendor's data follows the text of its block, as signatures do. */
function* reasoningOf({ reasoning = [], reasoningMeta }: Extract<FakeTurn, object>): Generator<ModelDelta> {
  if (typeof reasoning === "string") {
    if (reasoning !== "") yield { type: "reasoning", delta: reasoning };
    if (reasoningMeta) yield { type: "reasoning", delta: "", meta: reasoningMeta };
    return;
  }
  for (const [i, { text, redacted, meta }] of reasoning.entries()) {
    const id = `block-${i + 1}`;
    if (text !== "") yield { type: "reasoning", delta: text, id };
    if (meta || redacted) yield { type: "reasoning", delta: "", id, ...(redacted ? { redacted } : {}), ...(meta ? { meta } : {}) };
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const fail = () => reject(new DOMException("the turn was aborted", "AbortError"));
    if (signal.aborted) fail();
    else signal.addEventListener("abort", fail, { once: true });
  });
}
