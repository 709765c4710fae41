import { randomUUID } from "node:crypto";
import {
  type AssistantPart,
  type MessageBlock,
  ModelError,
  type ModelRequest,
  messageOf,
  type RunRequest,
  sleep,
  type ToolResult,
} from "svc/sdk";
import { whileAlive } from "../common/abort.ts";
import type { Kit } from "../kit.ts";
import { withFailover } from "../models/attempts.ts";
import { infoOf } from "../models/catalog.ts";
import type { Candidate, ModelRef } from "../models/choice.ts";
import { withCost } from "../models/cost.ts";
import { silenceLimits } from "../models/silence.ts";
import { readTurn, type ToolCallMade, type TurnResult } from "../models/turn.ts";
import { present } from "../sessions/find.ts";
import { toolFailure } from "../tools/toolbox.ts";
import { requestBlocks } from "./attachments.ts";
import { RunFailure } from "./failure.ts";
import { takeSteered } from "./join.ts";
import { buildPrompt, type Prompt } from "./prompt.ts";
import { forModel, type PromptMessage } from "./replay-to-model.ts";
import type { Run } from "./run.ts";
import { wantedLevel } from "./thinking-note.ts";
import { dropOlderHalf, textOf, userContent } from "./transcript.ts";
import { commitRun, type NewMessage } from "./writes.ts";

/** A model that still wants tools after this many turns goes in circles. */
const MAX_TURNS = 25;

export interface LoopResult {
  /** The last assistant message, to be stored together with the end of the run; absent when it is stored already. */
  last: NewMessage | undefined;
  /** Calls of client tools. */
  toolCalls: ToolCallMade[];
  stopReason: string;
}

/**
 * Model turns and tool calls until the model has nothing more to ask.
 * @throws {RunFailure} or a model fault, or the run's abort reason
 */
export async function runLoop(run: Run, kit: Kit): Promise<LoopResult> {
  const candidates = await candidatesFor(run, kit);
  if (candidates.length === 0) throw new RunFailure("NO_MODEL", "no language model is available; add one under models.providers");
  // Read meanwhile, so that the end can say whether the thinking level had an effect.
  if ((await wantedLevel(run, kit)) !== undefined && candidates[0] && !candidates[0].provider.embedded)
    void kit.catalog.models(candidates[0].provider);
  kit.events.status(run, "preparing_context");
  const prompt = await buildPrompt(run, kit, candidates[0]);
  kit.events.status(run, "starting_model");
  const clientTools = new Set((run.request.clientTools ?? []).map((t) => t.name));
  for (let turn = 1; turn <= MAX_TURNS; turn++) {
    for (const steered of takeSteered(run, kit))
      prompt.messages.push({ role: "user", content: userContent(requestBlocks(steered.request)) });
    const result = await modelTurn(run, kit, { candidates, prompt, isFirst: turn === 1 });
    run.count(result.usage);
    kit.events.usage(run, result.usage);
    kit.events.textEnd(run);
    run.endMessage();

    const message = assistantMessage(run, kit, result);
    const theirs = result.toolCalls.filter((c) => clientTools.has(c.name));
    const ours = result.toolCalls.filter((c) => !clientTools.has(c.name));
    if (ours.length === 0) return { last: hasContent(message) ? message : undefined, toolCalls: theirs, stopReason: stopReasonOf(result) };

    if (run.toolCallsLeft === 0) throw new RunFailure("TURN_LIMIT", "the agent used all tool calls of this run and wants more");
    const results = await toolTurn(run, kit, { message, calls: ours });
    if (theirs.length > 0) return { last: undefined, toolCalls: theirs, stopReason: stopReasonOf(result) };
    prompt.messages.push(answerOf(run, result), ...results.map((r) => toModelResult(r)));
  }
  throw new RunFailure("TURN_LIMIT", `the model called tools ${MAX_TURNS} times without answering; ask a narrower question`);
}

async function modelTurn(
  run: Run,
  kit: Kit,
  { candidates, prompt, isFirst }: { candidates: readonly Candidate[]; prompt: Prompt; isFirst: boolean },
): Promise<TurnResult> {
  const clientTools = new Set(run.request.clientTools?.map(({ name }) => name));
  const { value } = await withFailover({
    candidates,
    cooldown: kit.cooldown,
    isCurrent: ({ provider }) => kit.catalog.provider(provider.id) === provider,
    attempt: async (candidate, { isLast }) => {
      select(run, kit, candidate);
      run.beginMessage();
      const call = () =>
        loggedCall(run, kit, { candidate, prompt }, () =>
          readTurn((signal) => candidate.provider.stream(requestFor(run, kit, { candidate, prompt, isFirst }), { signal }), {
            signal: run.signal,
            ...silenceLimits(kit.config, candidate.provider),
            onSilence: (silentMs) => kit.events.waiting(run, silentMs),
            onText: (delta) => kit.events.text(run, delta),
            onReasoning: (delta) => kit.events.reasoning(run, delta),
            onToolInput: (made, delta) => {
              if (clientTools.has(made.name)) kit.events.toolInput(run, made, delta);
            },
          }),
        );
      const made = await call().catch((error: unknown) => {
        // Once more without the agent's own tools; the caller's are its own to leave out.
        if (clientTools.size > 0 || !kit.toolSupport.learn(candidate, error)) throw error;
        return call();
      });
      const answered = { ...made, usage: withCost(made.usage, infoOf(kit.catalog, candidate)?.cost) };
      const { finish, text, toolCalls } = answered;
      // Another model may answer; a partial answer was shown, and stays.
      if (text !== "" || toolCalls.length > 0) return answered;
      // Silence after words is an end, and what a heartbeat says when there is nothing new.
      const isEnd = isLast || run.visible || run.heartbeat !== undefined;
      if (finish !== "content_filter" && isEnd) return answered;
      run.count(answered.usage);
      const [fault, what] = finish === "content_filter" ? (["content_filter", "withheld"] as const) : (["empty", "empty"] as const);
      throw new ModelError(fault, `provider "${candidate.provider.id}": the answer was ${what}`);
    },
    isVisible: () => run.itemText !== "" || run.hasToolInput,
    mayFailover: () => !run.visible,
    shrink: () => {
      const smaller = dropOlderHalf(prompt.messages);
      if (!smaller) return false;
      kit.events.compaction(run, { phase: "start" });
      prompt.messages = smaller;
      kit.events.compaction(run, { phase: "end", willRetry: true });
      return true;
    },
    onRetry: (candidate, error, pauseMs) =>
      kit.ctx.logger.warn(`run ${run.id}: ${candidate.provider.id}/${candidate.model} failed; retrying`, {
        fault: error.fault,
        pauseMs,
      }),
    pause: (ms) => sleep(ms, run.signal),
    random: Math.random,
  });
  return value;
}

/** Records each call of a model: two lines in the log, figures, a span; never the texts. */
async function loggedCall(
  run: Run,
  kit: Kit,
  { candidate, prompt }: { candidate: Candidate; prompt: Prompt },
  call: () => Promise<TurnResult>,
): Promise<TurnResult> {
  const { logger } = kit.ctx;
  const startedAt = kit.ctx.clock.monotonic();
  const head = () => ({ runId: run.id, provider: candidate.provider.id, model: candidate.model });
  const ms = () => Math.round(kit.ctx.clock.monotonic() - startedAt);
  logger.debug("model call", () => ({
    ...head(),
    messages: prompt.messages.length,
    tools: prompt.tools.length,
    thinking: prompt.thinking,
  }));
  const by = { provider: candidate.provider.id, model: candidate.model };
  try {
    const result = await tracedCall(kit, by, call);
    kit.figures.modelCalled({ ...by, ms: ms() }, result);
    logger.debug("model answered", () => {
      const { finish, usage, text, toolCalls } = result;
      return {
        ...head(),
        ms: ms(),
        finish,
        tokensIn: usage.input,
        tokensOut: usage.output,
        chars: text.length,
        toolCalls: toolCalls.length,
      };
    });
    return result;
  } catch (error) {
    kit.figures.modelCalled({ ...by, ms: ms() }, undefined, error);
    logger.debug("model call failed", () => ({ ...head(), ms: ms(), reason: messageOf(error) }));
    throw error;
  }
}

function tracedCall(
  kit: Kit,
  { provider, model }: { provider: string; model: string },
  call: () => Promise<TurnResult>,
): Promise<TurnResult> {
  const attributes = { "gen_ai.operation.name": "chat", "gen_ai.provider.name": provider, "gen_ai.request.model": model };
  return kit.ctx.tracing.span(`chat ${model}`, { kind: "client", attributes }, async (span) => {
    const result = await call();
    const { finish, usage } = result;
    span.set({
      "gen_ai.response.finish_reasons": finish,
      "gen_ai.usage.input_tokens": usage.input,
      "gen_ai.usage.output_tokens": usage.output,
    });
    return result;
  });
}

function requestFor(run: Run, kit: Kit, given: { candidate: Candidate; prompt: Prompt; isFirst: boolean }): ModelRequest {
  const { prompt, candidate, isFirst } = given;
  const { request } = run;
  // A forced call is forced once; asking for it again after its result would never end.
  const asked = isFirst || request.toolChoice === "none" ? request.toolChoice : undefined;
  const choice = run.toolCallsLeft === 0 ? "none" : asked;
  const hasOwnTools = offersOwnTools(run, kit, candidate);
  // A caller that names the embedded model wants it; the note about a missing model is left out.
  const notice = candidate.provider.embedded && run.agent.models.length === 0 ? kit.modelStates.notice() : undefined;
  return {
    model: candidate.model,
    system: hasOwnTools ? prompt.system : prompt.systemWithoutTools,
    messages: forModel(prompt.messages, {
      provider: candidate.provider.id,
      model: candidate.model,
      input: infoOf(kit.catalog, candidate)?.input,
    }),
    tools: [...(hasOwnTools ? prompt.tools : []), ...(request.clientTools ?? [])],
    ...(choice === undefined ? {} : { toolChoice: choice }),
    ...(request.sampling ? { sampling: request.sampling } : {}),
    thinking: prompt.thinking,
    cacheKey: prompt.cacheKey,
    context: {
      agentId: run.agent.id,
      sessionKey: run.sessionKey,
      runId: run.id,
      trigger: request.trigger,
      ...(notice === undefined ? {} : { notice }),
    },
  };
}

/** Vendors refuse tools beside a response format, or call them instead of answering in it; other models take no tools at all. */
function offersOwnTools(run: Run, kit: Kit, candidate: Candidate): boolean {
  const format = run.request.sampling?.responseFormat;
  return (format === undefined || format.type === "text") && kit.toolSupport.has(candidate);
}

/** An answer as the next turn of its run reads it. */
function answerOf({ provider, modelId }: Run, { parts }: TurnResult): PromptMessage {
  const writtenBy = provider === undefined || modelId === undefined ? {} : { writtenBy: { provider, model: modelId } };
  return { role: "assistant", content: parts, ...writtenBy };
}

function select(run: Run, kit: Kit, { provider, model }: Candidate): void {
  if (run.provider === provider.id && run.modelId === model) return;
  run.provider = provider.id;
  run.modelId = model;
  kit.events.lifecycle(run, { phase: "model", provider: provider.id, model });
}

/** Stores the calls, runs them one after the other, stores their results. */
async function toolTurn(run: Run, kit: Kit, { message, calls }: { message: NewMessage; calls: ToolCallMade[] }): Promise<NewMessage[]> {
  const [stored] = await commitRun(run, kit, { messages: [message] });
  const session = await present(kit, run.sessionKey);
  if (stored && session) kit.events.message(session, stored);
  const results: NewMessage[] = [];
  for (const call of calls) {
    const result = await runTool(run, kit, call);
    const row = { ...blankRow(run, kit), role: "toolResult" as const, content: result.content, toolCallId: call.id, toolName: call.name };
    results.push({
      ...row,
      ...(result.isError ? { isError: true } : {}),
      ...(result.details === undefined ? {} : { details: result.details }),
    });
  }
  await commitRun(run, kit, { messages: results });
  return results;
}

async function runTool(run: Run, kit: Kit, call: ToolCallMade): Promise<ToolResult> {
  const startedAt = kit.ctx.clock.now();
  kit.events.toolStart(run, call, await present(kit, run.sessionKey));
  const ids = { agentId: run.agent.id, sessionKey: run.sessionKey, runId: run.id, toolCallId: call.id };
  const target = { ...ids, signal: run.signal, hasOperatorTools: run.hasOperatorTools, tools: run.request.tools, ...placed(run) };
  const isSpent = run.toolCallsLeft === 0;
  if (!isSpent) run.toolCallsLeft -= 1;
  const work = isSpent
    ? Promise.reject(new Error("this run has used all its tool calls; answer with what is known"))
    : call.broken
      ? Promise.reject(new Error(`its arguments are not valid JSON: ${call.broken}`))
      : kit.tools.invoke(run.agent, { name: call.name, args: call.args }, target);
  const result = await work.catch((error): ToolResult => toolFailure(error));
  const session = await present(kit, run.sessionKey);
  run.signal.throwIfAborted();
  kit.events.toolEnd(run, { ...call, startedAt }, { result, session });
  return result;
}

function placed({ request: { place } }: Run): Pick<RunRequest, "place"> {
  return place ? { place } : {};
}

function assistantMessage(run: Run, kit: Kit, result: TurnResult): NewMessage {
  const content = result.parts.map((part): MessageBlock => (part.type === "toolCall" ? storedCall(part, result.toolCalls) : part));
  return {
    ...blankRow(run, kit),
    role: "assistant",
    content,
    stopReason: stopReasonOf(result),
    usage: result.usage,
    ...(run.provider === undefined ? {} : { provider: run.provider }),
    ...(run.modelId === undefined ? {} : { model: run.modelId }),
  };
}

/** A call with the arguments that the model wrote, whether they can be used or not. */
function storedCall({ id, name, meta }: Extract<AssistantPart, { type: "toolCall" }>, calls: readonly ToolCallMade[]): MessageBlock {
  return { type: "toolCall", id, name, arguments: calls.find((call) => call.id === id)?.args, ...(meta ? { meta } : {}) };
}

/** Columns that every row of a run has. */
export function blankRow(run: Run, kit: Kit): Pick<NewMessage, "id" | "sessionId" | "ts" | "runId"> {
  return { id: randomUUID(), sessionId: run.sessionId, ts: kit.ctx.clock.now(), runId: run.id };
}

function hasContent(message: NewMessage): boolean {
  return message.content.some(({ type }) => type !== "reasoning");
}

function toModelResult(row: NewMessage): Prompt["messages"][number] {
  return {
    role: "tool",
    toolCallId: row.toolCallId ?? "",
    name: row.toolName ?? "",
    text: textOf(row.content),
    ...(row.isError ? { isError: true } : {}),
  };
}

/** A call that was cut off, or whose arguments are no JSON object, must not be carried out: the caller is told that the answer is incomplete. */
function stopReasonOf(result: TurnResult): string {
  if (result.toolCalls.some(({ broken }) => broken !== undefined)) return "length";
  if (result.finish === "length" || result.finish === "content_filter") return result.finish;
  if (result.toolCalls.length > 0) return "tool_calls";
  return "stop";
}

/** Models to try for a run: what a plugin chose comes first, then what would be tried without it. */
async function candidatesFor(run: Run, kit: Kit): Promise<Candidate[]> {
  const override = run.model ?? (await kit.store().sessions.get(run.sessionKey))?.model;
  const standard = () => kit.models.candidates(run.agent, override);
  if (!kit.ctx.isHookUsed("model.resolve")) return standard();
  const ids = { runId: run.id, agentId: run.agent.id, sessionKey: run.sessionKey };
  const event = { ...ids, trigger: run.request.trigger, ...(override === undefined ? {} : { requested: refText(override) }) };
  const claim = await whileAlive(kit.ctx.runHook("model.resolve", event, { signal: run.signal, ...ids }), run.signal);
  if (!claim) return standard();
  const provider = kit.catalog.provider(claim.provider);
  if (provider) return kit.models.candidates(run.agent, { provider: provider.id, model: claim.model }, "routing");
  kit.ctx.logger.warn(`plugin "${claim.plugin}" chose model provider "${claim.provider}", which is not there`, { hook: "model.resolve" });
  return standard();
}

function refText(ref: ModelRef | string): string {
  return typeof ref === "string" ? ref : `${ref.provider}/${ref.model}`;
}
