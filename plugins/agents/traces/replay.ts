import { randomUUID } from "node:crypto";
import {
  type AssistantPart,
  commonErrors,
  isModelError,
  type JsonObject,
  type ModelRequest,
  messageOf,
  type ParamsOf,
  type Usage,
} from "svc/sdk";
import { digestOf } from "../common/digest.ts";
import { agentErrors } from "../errors.ts";
import type { Kit } from "../kit.ts";
import { infoOf } from "../models/catalog.ts";
import type { Candidate } from "../models/choice.ts";
import { withCost } from "../models/cost.ts";
import { silenceLimits } from "../models/silence.ts";
import { addUsage, noUsage, readTurn, type ToolCallMade, type TurnResult } from "../models/turn.ts";
import { LAST_TURN } from "../runs/model-turn.ts";
import { withText } from "../runs/prompt.ts";
import { forModel, type PromptMessage } from "../runs/replay-to-model.ts";
import { answerIn, type ReadTrace, readTrace } from "./explain.ts";
import { findTrace } from "./find-trace.ts";
import { type PromptBlocks, readBlocks } from "./prompt-blocks.ts";
import { RecordedCalls } from "./recorded-calls.ts";
import { ShownText } from "./shown-text.ts";
import type { StoredTrace } from "./stored-trace.ts";

/** Replays at a time: each may cost what a long run costs. */
const MAX_REPLAYS = 2;
const LIMIT_MS = 300_000;
/** Turns beyond those of the run, and in all. */
const MORE_TURNS = 5;
const MAX_TURNS = 50;
const DEFAULT_TEXT_CHARS = 20_000;

/** Why a replay ended before an answer. */
interface Stopped {
  reason: "tool" | "fault" | "turns" | "timeout";
  tool?: string;
  arguments?: unknown;
  error?: string;
}

interface Outcome {
  text: string;
  usage: Usage;
  turns: JsonObject[];
  calls: Array<{ name: string; arguments: unknown }>;
  stopped?: Stopped;
}

/**
 * Asks another model what a run asked: the prompt of its first turn as it was sent, secrets masked, and the recorded results for calls that are made again with the
 * same arguments. No tool runs, nothing enters a session, nothing is delivered; the tokens are counted as those of a replay.
 */
export class Replays {
  #running = 0;

  /** @throws {SvcError} `busy`, `trace-missing`, `replay-incomplete`, `invalid-model`, `model-not-allowed` */
  async run(kit: Kit, params: ParamsOf<"runs.replay">, signal: AbortSignal): Promise<JsonObject> {
    if (this.#running >= MAX_REPLAYS) throw commonErrors.busy({}, { retryAfterMs: 5_000 });
    this.#running += 1;
    try {
      return await replay(kit, params, signal);
    } finally {
      this.#running -= 1;
    }
  }
}

async function replay(kit: Kit, params: ParamsOf<"runs.replay">, signal: AbortSignal): Promise<JsonObject> {
  const { timeoutMs = LIMIT_MS, maxChars = DEFAULT_TEXT_CHARS } = params;
  const { clock } = kit.ctx;
  const asking = await prepared(kit, params, new ShownText(kit.redact, maxChars));
  const startedAt = clock.monotonic();
  const limit = AbortSignal.timeout(timeoutMs);
  const outcome: Outcome = { text: "", usage: noUsage, turns: [], calls: [] };
  const took = () => Math.max(0, Math.round(clock.monotonic() - startedAt));
  try {
    await converse(asking, { signal: AbortSignal.any([signal, kit.ctx.signal, limit]), limit, outcome });
  } finally {
    // Tokens cost money however it ended.
    count(asking, { outcome, durationMs: took() });
  }
  return compared(asking, outcome, took());
}

/** @throws {SvcError} `trace-missing`, `replay-incomplete`, `invalid-model`, `model-not-allowed` */
async function prepared(kit: Kit, { runId, model }: ParamsOf<"runs.replay">, shown: ShownText): Promise<Asking> {
  const trace = await findTrace(kit, runId);
  const read = await readTrace(kit, trace, (attempts) => attempts.findLast(({ turn }) => turn === attempts[0]?.turn));
  const incomplete = (reason: string) => agentErrors.replayIncomplete({ run: runId, reason });
  if (!read.attempt) throw incomplete("it asked no model");
  const [missing] = read.prompt.notes;
  if (missing !== undefined && read.prompt.messages.some(({ isCut }) => isCut)) throw incomplete(missing);
  const candidate = await candidateFor(kit, trace, model);
  const hasTools = kit.toolSupport.has(candidate);
  const all = await readBlocks(kit.traces, trace.prompt, hasTools && !read.attempt.isWithoutTools ? {} : { isWithoutTools: true });
  const blocks = hasTools ? all : { ...all, tools: [], notes: [...all.notes, "the model takes no tools, so none were offered"] };
  return { kit, read, blocks, candidate, shown, id: `replay-${randomUUID()}` };
}

/** Both answers side by side. */
async function compared({ read, blocks, candidate, shown, id }: Asking, outcome: Outcome, durationMs: number): Promise<JsonObject> {
  const { trace } = read;
  const { provider, model } = trace;
  const { text, turns, calls, usage, stopped } = outcome;
  const original = await shown.text(answerIn(read.own));
  const answer = await shown.text(text);
  const notes = [...blocks.notes, ...read.prompt.notes];
  return {
    replayId: id,
    runId: trace.runId,
    original: {
      ...(provider === undefined || model === undefined ? {} : { model: `${provider}/${model}` }),
      answer: original,
      calls: await Promise.all(read.calls.map(async ({ name, args }) => ({ name, arguments: await shown.json(args ?? null) }))),
      usage: trace.usage,
      durationMs: Math.max(0, trace.endedAt - trace.startedAt),
    },
    replay: {
      model: `${candidate.provider.id}/${candidate.model}`,
      answer,
      turns,
      calls,
      usage,
      durationMs,
      ...(stopped ? { stopped } : {}),
    },
    isSame: stopped === undefined && original.trim() === answer.trim(),
    isExact: notes.length === 0,
    notes,
  };
}

async function candidateFor(kit: Kit, trace: StoredTrace, named: string): Promise<Candidate> {
  // The agent may be gone; whoever asks may use what the default agent may.
  const { directory } = kit;
  const agent = directory.list().find(({ id }) => id === trace.agentId) ?? directory.get(directory.defaultId);
  const { provider: id, model } = await kit.models.check(agent, named);
  const provider = kit.catalog.provider(id);
  if (!provider) throw agentErrors.invalidModel({ model: named });
  const ready = provider.available();
  if (!ready.ok) throw agentErrors.replayIncomplete({ run: trace.runId, reason: `model provider "${id}" is not ready: ${ready.reason}` });
  return { provider, model };
}

interface Asking {
  kit: Kit;
  read: ReadTrace;
  blocks: PromptBlocks;
  candidate: Candidate;
  shown: ShownText;
  id: string;
}

interface Talk {
  signal: AbortSignal;
  /** The part of `signal` that is the time limit. */
  limit: AbortSignal;
  /** Filled in as it goes. */
  outcome: Outcome;
}

/** Turns until the model has an answer, or wants what was never recorded. */
async function converse(asking: Asking, { signal, limit, outcome }: Talk): Promise<void> {
  const { read, candidate, shown } = asking;
  const recorded = new RecordedCalls(read.calls);
  const messages: PromptMessage[] = [];
  for (const { message } of read.prompt.messages) messages.push(await masked(message, shown));
  const maxTurns = Math.min(MAX_TURNS, Math.max(0, ...read.trace.attempts.map(({ turn }) => turn)) + MORE_TURNS);
  for (let turn = 1; turn <= maxTurns; turn++) {
    const made = await oneTurn(asking, { messages, turn, isLast: turn === maxTurns, signal }).catch(async (error: unknown) => {
      outcome.stopped = await stoppedBy(error, { signal, limit, shown });
    });
    if (!made) return;
    outcome.usage = addUsage(outcome.usage, made.usage);
    outcome.turns.push({ turn, ms: made.ms, finish: made.finish, usage: made.usage });
    if (made.text.trim() !== "") outcome.text = made.text;
    if (made.toolCalls.length === 0) return;
    const results = await resultsFor(made.toolCalls, { recorded, outcome, shown });
    if (!results) return;
    messages.push(
      { role: "assistant", content: made.parts, writtenBy: { provider: candidate.provider.id, model: candidate.model } },
      ...results,
    );
  }
  outcome.stopped = { reason: "turns", error: `no answer after ${maxTurns} turns` };
}

/** The recorded results of all calls of a turn; undefined when one of them was never made. */
async function resultsFor(
  calls: readonly ToolCallMade[],
  { recorded, outcome, shown }: { recorded: RecordedCalls; outcome: Outcome; shown: ShownText },
): Promise<PromptMessage[] | undefined> {
  const results: PromptMessage[] = [];
  for (const call of calls) {
    const args = await shown.json(call.args);
    outcome.calls.push({ name: call.name, arguments: args });
    const result = call.broken === undefined ? recorded.take(call.name, call.args) : undefined;
    if (!result) {
      outcome.stopped = { reason: "tool", tool: call.name, arguments: args };
      return undefined;
    }
    results.push(resultOf(call, { ...result, text: await shown.whole(result.text) }));
  }
  return results;
}

/** @throws what no model is to blame for */
async function stoppedBy(
  error: unknown,
  { signal, limit, shown }: { signal: AbortSignal; limit: AbortSignal; shown: ShownText },
): Promise<Stopped> {
  if (limit.aborted) return { reason: "timeout", error: "the time limit of the replay has passed" };
  if (signal.aborted || !isModelError(error)) throw error;
  return { reason: "fault", error: await shown.text(`${error.fault}: ${messageOf(error)}`) };
}

function resultOf({ id, name }: ToolCallMade, { text, isError }: { text: string; isError?: true }): PromptMessage {
  return { role: "tool", toolCallId: id, name, text, ...(isError ? { isError } : {}) };
}

/** A message without secrets. Pictures stay as they are. */
async function masked(message: PromptMessage, shown: ShownText): Promise<PromptMessage> {
  if (message.role === "tool") return { ...message, text: await shown.whole(message.text) };
  if (message.role === "user") {
    const content = [];
    for (const part of message.content) content.push(part.type === "text" ? { ...part, text: await shown.whole(part.text) } : part);
    return { ...message, content };
  }
  const content = [];
  for (const part of message.content) content.push(...(await maskedPart(part, shown)));
  return { ...message, content };
}

/** A part of an answer. A vendor takes its own data back with the very text that it gave them for, and refuses the request otherwise. */
async function maskedPart(part: AssistantPart, shown: ShownText): Promise<AssistantPart[]> {
  if (part.type === "toolCall") return [{ ...part, args: await shown.value(part.args) }];
  const text = await shown.whole(part.text);
  if (text === part.text) return [part];
  return part.type === "reasoning" ? [] : [{ type: "text", text }];
}

async function oneTurn(
  { kit, read: { trace, attempt }, blocks, candidate: { provider, model }, id }: Asking,
  { messages, turn, isLast, signal }: { messages: readonly PromptMessage[]; turn: number; isLast: boolean; signal: AbortSignal },
): Promise<TurnResult & { ms: number }> {
  const info = infoOf(kit.catalog, { provider, model });
  const asked = turn === 1 || attempt?.toolChoice === "none" ? attempt?.toolChoice : undefined;
  const toolChoice = isLast ? "none" : asked;
  const request: ModelRequest = {
    model,
    system: blocks.system,
    messages: forModel(isLast ? withText(messages, LAST_TURN) : messages, {
      provider: provider.id,
      model,
      input: info?.input,
      isEmbedded: provider.embedded === true,
    }),
    tools: blocks.tools,
    ...(toolChoice === undefined ? {} : { toolChoice }),
    ...(blocks.sampling ? { sampling: blocks.sampling } : {}),
    ...(trace.prompt?.thinking === undefined ? {} : { thinking: trace.prompt.thinking }),
    cacheKey: digestOf([id]),
    context: { agentId: trace.agentId, sessionKey: trace.sessionKey, runId: id },
  };
  const from = kit.ctx.clock.monotonic();
  const by = { provider: provider.id, model };
  const ms = () => Math.max(0, Math.round(kit.ctx.clock.monotonic() - from));
  try {
    const limits = silenceLimits(kit.config, provider);
    const made = await readTurn((stop) => provider.stream(request, { signal: stop }), { signal, ...limits, onText: () => undefined });
    kit.figures.modelCalled({ ...by, ms: ms() }, made);
    return { ...made, usage: withCost(made.usage, infoOf(kit.catalog, { provider, model })?.cost), ms: ms() };
  } catch (error) {
    kit.figures.modelCalled({ ...by, ms: ms() }, undefined, error);
    throw error;
  }
}

/** Tells those who count tokens; nobody waits for them. */
function count(
  { kit, read: { trace }, candidate, id }: Asking,
  { outcome, durationMs: ms }: { outcome: Outcome; durationMs: number },
): void {
  if (!kit.ctx.isHookUsed("agent.end")) return;
  const ids = { runId: id, agentId: trace.agentId, sessionKey: trace.sessionKey };
  const { usage, stopped } = outcome;
  const status = stopped?.reason === "fault" || stopped?.reason === "timeout" ? ("error" as const) : ("ok" as const);
  const model = `${candidate.provider.id}/${candidate.model}`;
  kit.ctx
    .runHook("agent.end", { ...ids, trigger: "replay", status, ms, usage, model }, ids)
    .catch((error: unknown) => kit.ctx.logger.warn("hook agent.end failed", { error: messageOf(error) }));
}
