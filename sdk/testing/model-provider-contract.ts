import assert from "node:assert/strict";
import { isModelError } from "../define.ts";
import type { AssistantPart, ModelDelta, ModelFault, ModelMessage, ModelProvider, ModelRequest, VendorMeta } from "../types/model.ts";
import { type ContractCase, defineCases, isAbort, rejectionOf, within } from "./contract.ts";

type Turn = Partial<ModelRequest>;
type Reasoning = Extract<AssistantPart, { type: "reasoning" }>;

/** Provider under test: requests by the result they must produce. Fields that are left out get harmless values. */
export interface ModelProviderSubject {
  provider: ModelProvider;
  /** Answered with text and nothing else. */
  text: Turn;
  /** Answered with at least one tool call; its `tools` are offered. Left out: the provider calls no tools. */
  tool?: Turn;
  /**
   * Vendor's data in the last request, as `meta` had it: of reasoning and calls, in their order. Given by a provider whose answer to `tool` has such data; the
   * suite sends it back and compares.
   */
  replayedMeta?(): readonly VendorMeta[];
  /** Goes on for at least a second, or for ever: what an abort cuts off. Left out for a provider that answers at once. */
  slow?: Turn;
  /** Fails with this class. */
  faults?: Partial<Record<ModelFault, Turn>>;
  /** Values that no message may show. */
  secrets?: readonly string[];
}

type Create = () => ModelProviderSubject | Promise<ModelProviderSubject>;

/**
 * Conformance suite of a model provider, to be called inside `describe`.
 * @param create makes a fresh subject; called once per case
 */
export function modelProviderContract(create: Create): void {
  defineCases(modelProviderCases(create));
}

/** The statements of `modelProviderContract`, for running them without a test runner. */
export function modelProviderCases(create: Create): ContractCase[] {
  const make = (name: string, check: (subject: ModelProviderSubject) => Promise<void>): ContractCase => ({
    name,
    run: async () => check(await create()),
  });
  return [
    make("it lists models with ids that differ, and says whether it can be used", checkCatalog),
    make("a turn of text ends with one finish, after at most one usage", async ({ provider, text }) => {
      const deltas = await collect(provider, text);
      checkShape(deltas);
      assert.ok(textOf(deltas).trim() !== "", "the turn has no text");
      assert.equal(finishOf(deltas), "stop");
    }),
    make("tool calls come whole: one id each, arguments that are JSON, tools that were offered", checkToolCalls),
    make("it goes on after a tool has answered", async ({ provider, tool }) => {
      if (tool) checkShape(await collect(provider, { ...tool, messages: await answered(provider, tool) }));
    }),
    make("the vendor's data of reasoning, texts and calls goes back untouched, in order", checkMeta),
    make("turns at the same time do not mix", async ({ provider, text }) => {
      const alone = textOf(await collect(provider, text));
      const both = await Promise.all([collect(provider, text), collect(provider, text)]);
      for (const deltas of both) {
        checkShape(deltas);
        assert.equal(textOf(deltas), alone);
      }
    }),
    make("it leaves the request as it was", async ({ provider, text }) => checkShape(await collect(provider, deepFreeze(request(text))))),
    make("an abort before the turn rejects with AbortError", async ({ provider, text }) => {
      const error = await within(rejectionOf(collect(provider, text, AbortSignal.abort())), 1_000, "an aborted turn");
      assert.ok(isAbort(error), `rejected with ${String(error)}`);
    }),
    make("an abort in the middle rejects with AbortError within a second", checkAbort),
    make("a reader that leaves early can ask again", async ({ provider, text }) => {
      for await (const _ of provider.stream(request(text), { signal: new AbortController().signal })) break;
      checkShape(await collect(provider, text));
    }),
    make("each fault is a ModelError of its class and shows no secret", checkFaults),
  ];
}

async function checkCatalog({ provider }: ModelProviderSubject): Promise<void> {
  const ids = (await within(Promise.resolve(provider.models()), 5_000, "models()")).map((m) => m.id);
  assert.equal(new Set(ids).size, ids.length, "models(): an id is listed twice");
  assert.ok(ids.every((id) => id !== ""));
  assert.equal(typeof provider.available().ok, "boolean");
  assert.match(provider.id, /^[a-z0-9][\w.-]*$/);
}

async function checkToolCalls({ provider, tool }: ModelProviderSubject): Promise<void> {
  if (!tool) return;
  const deltas = await collect(provider, tool);
  checkShape(deltas);
  const calls = callsOf(deltas);
  assert.ok(calls.length > 0, "no tool was called");
  assert.equal(finishOf(deltas), "tool_calls");
  for (const call of calls) {
    assert.ok(
      tool.tools?.some((t) => t.name === call.name),
      `the tool "${call.name}" was not offered`,
    );
    assert.doesNotThrow(() => JSON.parse(call.args || "{}"), `arguments of ${call.name} are not JSON`);
  }
  const ends = deltas.filter((d) => d.type === "toolCallEnd").map((d) => d.id);
  assert.deepEqual([...ends].sort(), calls.map((c) => c.id).sort(), "each call ends once");
}

async function checkAbort({ provider, text, slow }: ModelProviderSubject): Promise<void> {
  const stop = new AbortController();
  const turn = (async () => {
    for await (const _ of provider.stream(request(slow ?? text), { signal: stop.signal })) stop.abort();
  })();
  // A slow turn may not have sent anything yet.
  const timer = slow && setTimeout(() => stop.abort(), 200);
  const error = await within(rejectionOf(turn), 1_500, "an aborted turn");
  clearTimeout(timer);
  assert.ok(isAbort(error), `rejected with ${String(error)}`);
}

async function checkFaults({ provider, faults = {}, secrets = [] }: ModelProviderSubject): Promise<void> {
  for (const [fault, turn] of Object.entries(faults)) {
    const error = await within(rejectionOf(collect(provider, turn)), 10_000, `a turn that fails with ${fault}`);
    assert.ok(isModelError(error), `${fault}: rejected with ${String(error)}`);
    assert.equal(error.fault, fault, error.message);
    for (const secret of secrets) assert.ok(!`${error.message}${error.stack}`.includes(secret), `${fault}: the message shows a secret`);
  }
}

async function checkMeta(subject: ModelProviderSubject): Promise<void> {
  const { provider, tool, replayedMeta } = subject;
  if (!replayedMeta) return;
  assert.ok(tool, "replayedMeta needs a tool turn");
  const messages = await answered(provider, tool);
  const content = messages.flatMap((m) => (m.role === "assistant" ? m.content : []));
  const metas = content.flatMap((part) => (part.meta ? [part.meta] : []));
  assert.ok(metas.length > 0, "the tool turn has no meta");
  await collect(provider, { ...tool, messages });
  assert.deepEqual(replayedMeta.call(subject), metas);
}

/** Conversation with the calls of a first turn answered; what the model wrote stands there in order. */
async function answered(provider: ModelProvider, tool: Turn): Promise<ModelMessage[]> {
  const content = contentOf(await collect(provider, tool));
  return [
    ...request(tool).messages,
    { role: "assistant", content },
    ...content.flatMap((part): ModelMessage[] =>
      part.type === "toolCall" ? [{ role: "tool", toolCallId: part.id, name: part.name, text: "{}" }] : [],
    ),
  ];
}

/** Returns what a model wrote, in order, as a run puts it together. */
function contentOf(deltas: readonly ModelDelta[]): AssistantPart[] {
  const args = new Map(callsOf(deltas).map((call) => [call.id, call.args]));
  const parts: AssistantPart[] = [];
  let block: string | undefined;
  for (const delta of deltas) {
    const last = parts.at(-1);
    if (delta.type === "text" && (delta.delta !== "" || (delta.meta && last?.type === "text"))) {
      const open: Extract<AssistantPart, { type: "text" }> = last?.type === "text" ? last : { type: "text", text: "" };
      if (open !== last) parts.push(open);
      open.text += delta.delta;
      if (delta.meta) open.meta = delta.meta;
    } else if (delta.type === "reasoning" && (delta.delta !== "" || delta.meta)) {
      const isNew = last?.type !== "reasoning" || block !== delta.id;
      const open: Reasoning = isNew ? { type: "reasoning", text: "" } : last;
      if (isNew) parts.push(open);
      open.text += delta.delta;
      if (delta.redacted) open.redacted = true;
      if (delta.meta) open.meta = joinedMeta(open.meta, delta.meta);
      block = delta.id;
    } else if (delta.type === "toolCall" && !parts.some((part) => part.type === "toolCall" && part.id === delta.id)) {
      parts.push({ type: "toolCall", id: delta.id, name: delta.name, args: JSON.parse(args.get(delta.id) || "{}") as unknown });
    } else if (delta.type === "toolCallEnd" && delta.meta) {
      const call = parts.find((part) => part.type === "toolCall" && part.id === delta.id);
      if (call?.type === "toolCall") call.meta = delta.meta;
    }
  }
  return parts;
}

/** A later object adds its fields to an earlier one, also one level below. */
function joinedMeta(earlier: VendorMeta | undefined, later: VendorMeta): VendorMeta {
  const isObject = (value: unknown): value is object => typeof value === "object" && value !== null && !Array.isArray(value);
  const added = Object.entries(later).map(([name, value]) => {
    const old = earlier?.[name];
    return [name, isObject(old) && isObject(value) ? { ...old, ...value } : value];
  });
  return { ...earlier, ...Object.fromEntries(added) } as VendorMeta;
}

async function collect(provider: ModelProvider, turn: Turn, signal = new AbortController().signal): Promise<ModelDelta[]> {
  const deltas: ModelDelta[] = [];
  for await (const delta of provider.stream(request(turn), { signal })) deltas.push(delta);
  return deltas;
}

function request(turn: Turn): ModelRequest {
  const messages: ModelMessage[] = [{ role: "user", content: [{ type: "text", text: "Say something." }] }];
  const context = { agentId: "main", sessionKey: "agent:main:main", runId: "contract" };
  return { model: "model", system: "You are being tested.", messages, tools: [], context, ...turn };
}

function checkShape(deltas: readonly ModelDelta[]): void {
  assert.equal(deltas.filter((d) => d.type === "finish").length, 1, "a turn has one finish");
  assert.equal(deltas.at(-1)?.type, "finish", "nothing comes after the finish");
  assert.ok(deltas.filter((d) => d.type === "usage").length <= 1, "usage comes once at most");
  for (const delta of deltas) {
    if (delta.type === "text" || delta.type === "reasoning") assert.equal(typeof delta.delta, "string");
    if (delta.type === "reasoning" && delta.redacted) assert.equal(delta.delta, "", "sealed reasoning has no text");
    if ((delta.type !== "reasoning" && delta.type !== "toolCallEnd") || delta.meta === undefined) continue;
    assert.ok(typeof delta.meta === "object" && delta.meta !== null && !Array.isArray(delta.meta), "meta is an object");
    assert.deepEqual(JSON.parse(JSON.stringify(delta.meta)), delta.meta, "meta is JSON");
  }
}

function callsOf(deltas: readonly ModelDelta[]): Array<{ id: string; name: string; args: string }> {
  const calls = new Map<string, { id: string; name: string; args: string }>();
  for (const delta of deltas) {
    if (delta.type !== "toolCall") continue;
    const call = calls.get(delta.id) ?? { id: delta.id, name: delta.name, args: "" };
    calls.set(delta.id, { ...call, args: call.args + delta.argsDelta });
  }
  return [...calls.values()];
}

function textOf(deltas: readonly ModelDelta[]): string {
  return deltas.map((d) => (d.type === "text" ? d.delta : "")).join("");
}

function finishOf(deltas: readonly ModelDelta[]): string | undefined {
  const last = deltas.at(-1);
  return last?.type === "finish" ? last.reason : undefined;
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  for (const part of Object.values(value)) deepFreeze(part);
  return Object.freeze(value);
}
