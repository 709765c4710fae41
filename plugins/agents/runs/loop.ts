import { type AssistantPart, agentSetting, type MessageBlock } from "svc/sdk";
import { whileAlive } from "../common/abort.ts";
import type { Kit } from "../kit.ts";
import type { Candidate, ModelRef } from "../models/choice.ts";
import type { ToolCallMade, TurnResult } from "../models/turn.ts";
import { madeFromRow, madeFromRun } from "../traces/source.ts";
import { requestBlocks } from "./attachments.ts";
import { blankRow } from "./blank-row.ts";
import { CallWatch } from "./call-watch.ts";
import { RunFailure } from "./failure.ts";
import { takeSteered } from "./join.ts";
import { modelTurn } from "./model-turn.ts";
import { buildPrompt, type Prompt } from "./prompt.ts";
import { contextParts, type PromptMessage } from "./replay-to-model.ts";
import type { Run } from "./run.ts";
import { wantedLevel } from "./thinking-note.ts";
import { toolTurn } from "./tool-turn.ts";
import { resultContent, userContent } from "./transcript.ts";
import type { NewMessage } from "./writes.ts";

/** Answers of a model in one run, where the config says nothing else; the last one has to do without tools. */
const MAX_TURNS = 50;

export interface LoopResult {
  /** The last assistant message, to be stored together with the end of the run; absent when it is stored already. */
  last: NewMessage | undefined;
  /** Calls of client tools. */
  toolCalls: ToolCallMade[];
  stopReason: string;
}

/**
 * Model turns and tool calls until the model has nothing more to ask, or may not any more.
 * @throws {RunFailure} or a model fault, or the run's abort reason
 */
export async function runLoop(run: Run, kit: Kit): Promise<LoopResult> {
  const candidates = await candidatesFor(run, kit);
  if (candidates.length === 0) throw new RunFailure("NO_MODEL", "no language model is available; add one under models.providers");
  // Read meanwhile, so that the end can say whether the thinking level had an effect.
  if ((await wantedLevel(run, kit)) !== undefined && candidates[0] && !candidates[0].provider.embedded)
    void kit.catalog.models(candidates[0].provider);
  kit.events.status(run, "preparing_context");
  const prompt = await buildPrompt(run, kit);
  kit.events.status(run, "starting_model");
  const clientTools = new Set((run.request.clientTools ?? []).map((t) => t.name));
  const maxTurns = agentSetting(kit.config, run.agent.id, "maxTurns") ?? MAX_TURNS;
  const watch = new CallWatch();
  for (let turn = 1; ; turn++) {
    for (const steered of takeSteered(run, kit))
      prompt.messages.push(
        madeFromRun(
          { role: "user", content: [...contextParts(steered.context), ...userContent(requestBlocks(steered.request))] },
          steered.id,
        ),
      );
    const isLast = turn >= maxTurns || watch.isStuck || run.toolCallsLeft === 0;
    const answer = await modelTurn(run, kit, { candidates, prompt, isFirst: turn === 1, isLast });
    const isTheirs = (call: { name: string }) => clientTools.has(call.name);
    // Some vendors have no way to forbid calls.
    const result = isLast ? withoutCalls(answer, (call) => !isTheirs(call)) : answer;
    endAnswer(run, kit, result);

    const message = assistantMessage(run, kit, result);
    const theirs = result.toolCalls.filter(isTheirs);
    const ours = result.toolCalls.filter((call) => !isTheirs(call));
    if (isLast && answer.toolCalls.length > result.toolCalls.length && !hasContent(message)) throw stillCalling();
    if (ours.length === 0) return { last: hasContent(message) ? message : undefined, toolCalls: theirs, stopReason: stopReasonOf(result) };

    const { stored, results } = await toolTurn(run, kit, { message, calls: ours, room: prompt.room, watch });
    if (theirs.length > 0) return { last: undefined, toolCalls: theirs, stopReason: stopReasonOf(result) };
    prompt.messages.push(madeFromRow(answerOf(run, result), stored?.seq), ...results.map((r) => madeFromRow(toModelResult(r), r.seq)));
  }
}

/** Text that was shown of an answer is whole, and its tokens count. */
function endAnswer(run: Run, kit: Kit, { usage }: TurnResult): void {
  run.count(usage);
  kit.events.usage(run, usage);
  kit.events.textEnd(run);
  run.endMessage();
}

function stillCalling(): RunFailure {
  return new RunFailure("TURN_LIMIT", "the model asked for tools again where it had to answer; ask a narrower question");
}

/** An answer without the calls that may not be carried out. */
function withoutCalls(answer: TurnResult, isDropped: (call: { name: string }) => boolean): TurnResult {
  const toolCalls = answer.toolCalls.filter((call) => !isDropped(call));
  const finish = answer.finish === "tool_calls" && toolCalls.length === 0 ? "stop" : answer.finish;
  return { ...answer, finish, toolCalls, parts: answer.parts.filter((part) => part.type !== "toolCall" || !isDropped(part)) };
}

/** An answer as the next turn of its run reads it. */
function answerOf({ provider, modelId }: Run, { parts, usage }: TurnResult): PromptMessage {
  const writtenBy = provider === undefined || modelId === undefined ? {} : { writtenBy: { provider, model: modelId } };
  return { role: "assistant", content: parts, ...writtenBy, ...(usage.total > 0 ? { usedTokens: usage.total } : {}) };
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

function hasContent(message: NewMessage): boolean {
  return message.content.some(({ type }) => type !== "reasoning");
}

function toModelResult(row: NewMessage): Prompt["messages"][number] {
  return {
    role: "tool",
    toolCallId: row.toolCallId ?? "",
    name: row.toolName ?? "",
    ...resultContent(row.content),
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
