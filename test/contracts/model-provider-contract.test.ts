import { type AssistantPart, type ModelDelta, ModelError, type ModelProvider, type ModelRequest } from "svc/sdk";
import { type FakeModel, fakeModel, type ModelProviderSubject, modelProviderCases } from "svc/sdk/testing";
import { expect, test } from "vitest";
import { failing, outcomeOf } from "./_mutants.ts";

const tools = [{ name: "look_up", description: "Looks up.", inputSchema: { type: "object" } }];
const called = [{ name: "look_up", args: { query: "x" }, meta: { vendor: { thought: "t" } } }];
const reasoning = [
  { text: "Hm.", meta: { vendor: { signature: "s" } } },
  { text: "", redacted: true as const, meta: { vendor: { data: "d" } } },
];

/** A model that does what the request's `model` says. */
function scripted(): FakeModel {
  const own = fakeModel(
    Array(20).fill((req: { model: string }) => {
      if (req.model === "tool") return { reasoning, text: "Let me see. ", toolCalls: called };
      if (req.model === "slow") return { text: "One moment", hang: true };
      return req.model === "busy" ? { fault: "rate_limit" } : "Good morning to you all.";
    }),
  );
  return own;
}

function subject(change: (own: ModelProvider) => Partial<ModelProvider> = () => ({})): () => ModelProviderSubject {
  return () => {
    const own = scripted();
    return {
      provider: { ...own, ...change(own) },
      text: { model: "text" },
      tool: { model: "tool", tools },
      slow: { model: "slow" },
      faults: { rate_limit: { model: "busy" } },
      secrets: ["sk-secret-value"],
      replayedMeta: () => partsOf(own.requests.at(-1)).flatMap((part) => (part.type !== "text" && part.meta ? [part.meta] : [])),
    };
  };
}

function partsOf(request: ModelRequest | undefined): AssistantPart[] {
  return request?.messages.flatMap((m) => (m.role === "assistant" ? m.content : [])) ?? [];
}

/** The same provider, which sends other parts of earlier answers to its vendor. */
function replays(change: (parts: AssistantPart[]) => AssistantPart[]): () => ModelProviderSubject {
  return subject((own) => ({
    stream: (req, o) =>
      own.stream({ ...req, messages: req.messages.map((m) => (m.role === "assistant" ? { ...m, content: change(m.content) } : m)) }, o),
  }));
}

/** The same stream with each delta replaced by others. */
function deltas(change: (delta: ModelDelta) => ModelDelta[]): () => ModelProviderSubject {
  return subject((own) => ({
    async *stream(req, options) {
      for await (const delta of own.stream(req, options)) yield* change(delta);
    },
  }));
}

const withoutFault = (error: Error): ModelProviderSubject => ({
  ...subject(() => ({
    stream() {
      throw error;
    },
  }))(),
});

test("a provider that keeps the contract passes every case", async () => {
  expect(await failing(modelProviderCases(subject()))).toEqual([]);
});

const text = "a turn of text ends with one finish, after at most one usage";
const meta = "the vendor's data of reasoning, texts and calls goes back untouched, in order";
const toolCalls = "tool calls come whole: one id each, arguments that are JSON, tools that were offered";
const faults = "each fault is a ModelError of its class and shows no secret";
const abort = "an abort in the middle rejects with AbortError within a second";

test.each<[string, () => ModelProviderSubject, string]>([
  [
    "lists a model twice",
    subject(() => ({ models: () => [{ id: "a" }, { id: "a" }] })),
    "it lists models with ids that differ, and says whether it can be used",
  ],
  ["never finishes", deltas((d) => (d.type === "finish" ? [] : [d])), text],
  ["finishes twice", deltas((d) => (d.type === "finish" ? [d, d] : [d])), text],
  ["goes on after its finish", deltas((d) => (d.type === "finish" ? [d, { type: "text", delta: "?" }] : [d])), text],
  ["says nothing", deltas((d) => (d.type === "text" ? [] : [d])), text],
  ["counts twice", deltas((d) => (d.type === "usage" ? [d, d] : [d])), text],
  ["does not end its calls", deltas((d) => (d.type === "toolCallEnd" ? [] : [d])), toolCalls],
  ["calls with half an argument", deltas((d) => (d.type === "toolCall" ? [{ ...d, argsDelta: '{"qu' }] : [d])), toolCalls],
  ["calls what was not offered", deltas((d) => (d.type === "toolCall" ? [{ ...d, name: "other" }] : [d])), toolCalls],
  ["says stop when it calls", deltas((d) => (d.type === "finish" ? [{ type: "finish", reason: "stop" }] : [d])), toolCalls],
  ["sends reasoning without a signature", replays((parts) => parts.filter(({ type }) => type !== "reasoning")), meta],
  [
    "sends calls without their vendor's data",
    replays((parts) => parts.map(({ type, ...p }) => (type === "toolCall" ? { type, ...p, meta: {} } : { type, ...p }) as AssistantPart)),
    meta,
  ],
  ["sends blocks in another order", replays((parts) => parts.toReversed()), meta],
  ["shows sealed reasoning", deltas((d) => (d.type === "reasoning" && d.redacted ? [{ ...d, delta: "?" }] : [d])), toolCalls],
  ["has data that is no JSON", deltas((d) => (d.type === "toolCallEnd" ? [{ ...d, meta: { at: new Date(0) as never } }] : [d])), toolCalls],
  [
    "cannot read a tool's answer",
    subject((own) => ({
      stream: (req, o) => {
        if (req.messages.some((m) => m.role === "tool")) throw new ModelError("invalid_request", "what is this?");
        return own.stream(req, o);
      },
    })),
    "it goes on after a tool has answered",
  ],
  ["mixes turns", mixing(), "turns at the same time do not mix"],
  [
    "changes the request",
    subject((own) => ({
      stream: (req, o) => {
        req.messages.push({ role: "user", content: [] });
        return own.stream(req, o);
      },
    })),
    "it leaves the request as it was",
  ],
  [
    "does not hear an abort before the turn",
    subject((own) => ({ stream: (req) => own.stream(req, { signal: new AbortController().signal }) })),
    "an abort before the turn rejects with AbortError",
  ],
  [
    "does not hear an abort in the turn",
    subject((own) => ({ stream: (req) => own.stream(req, { signal: new AbortController().signal }) })),
    abort,
  ],
  [
    "rejects an abort as a fault",
    subject((own) => ({
      async *stream(req, o) {
        try {
          yield* own.stream(req, o);
        } catch {
          throw new ModelError("network", "cut");
        }
      },
    })),
    abort,
  ],
  ["works once only", onceOnly(), "a reader that leaves early can ask again"],
  ["throws an ordinary error", () => withoutFault(new Error("429")), faults],
  ["takes one fault for another", () => withoutFault(new ModelError("auth", "no")), faults],
  ["shows its key", () => withoutFault(new ModelError("rate_limit", "too many with sk-secret-value")), faults],
])("a provider that %s fails the case that says so", async (_name, create, expected) => {
  expect(await outcomeOf(modelProviderCases(create), expected)).toEqual(expect.any(String));
});

function mixing(): () => ModelProviderSubject {
  let shared: string[] = [];
  return subject((own) => ({
    async *stream(req, o) {
      shared = [];
      for await (const delta of own.stream(req, o)) {
        if (delta.type === "text") shared.push(delta.delta);
        await new Promise((resolve) => setImmediate(resolve));
        yield delta.type === "text" ? { ...delta, delta: shared.shift() ?? "" } : delta;
        if (delta.type === "text") shared.push("echo");
      }
    },
  }));
}

function onceOnly(): () => ModelProviderSubject {
  return subject((own) => {
    let used = 0;
    return {
      async *stream(req, o) {
        used += 1;
        if (used > 1) throw new ModelError("overloaded", "one at a time");
        yield* own.stream(req, o);
      },
    };
  });
}
