import type { JsonObject, MessageRow, ModelMessage, ParamsOf, UserPart } from "svc/sdk";
import type { Kit } from "../kit.ts";
import { LAST_TURN } from "../runs/model-turn.ts";
import { withText } from "../runs/prompt.ts";
import { forModel, type PromptMessage } from "../runs/replay-to-model.ts";
import { textOf } from "../runs/transcript.ts";
import { visibleText } from "../sessions/display.ts";
import { findTrace, newestRun } from "./find-trace.ts";
import { callsOfRun, type OwnCall, sourcesOf } from "./own-calls.ts";
import { readBlocks } from "./prompt-blocks.ts";
import { ownRows, type RebuiltMessage, type RebuiltPrompt, readRows, rebuildPrompt, rowsOf } from "./rebuild.ts";
import { ShownText } from "./shown-text.ts";
import type { StoredAttempt, StoredTrace } from "./stored-trace.ts";

const DEFAULT_TEXT_CHARS = 8_000;
/** Texts of all messages of an answer; what does not fit is left out from the old end. */
const MAX_MESSAGES_CHARS = 4 * 1024 * 1024;

/** A trace with what the transcript still has of its run. */
export interface ReadTrace {
  trace: StoredTrace;
  attempt: StoredAttempt | undefined;
  prompt: RebuiltPrompt;
  own: MessageRow[];
  calls: OwnCall[];
}

/** Reads a trace and rebuilds the prompt of one of its requests. @param choose among the requests in order; default: the last one */
export async function readTrace(
  kit: Kit,
  trace: StoredTrace,
  choose: (attempts: readonly StoredAttempt[]) => StoredAttempt | undefined = (attempts) => attempts.at(-1),
): Promise<ReadTrace> {
  const asked = trace.attempts.filter(({ messages }) => messages > 0);
  const attempt = choose(asked);
  const lists = new Set([asked[0]?.list ?? 0, attempt?.list ?? 0]);
  const wanted = [...lists].flatMap((list) => rowsOf(trace.lists[list]?.messages ?? []));
  const rows = await readRows(kit.store(), trace.sessionId, wanted);
  const own = await ownRows(kit.store(), trace, rows);
  const prompt = attempt ? rebuildPrompt(trace, attempt, { rows, own }) : { messages: [], notes: [] };
  return { trace, attempt, prompt, own, calls: callsOfRun(trace, own) };
}

/** `sessions.explain`: how a run came to its answer. @throws {SvcError} `trace-missing`, `unknown-session` */
export async function explainRun(kit: Kit, params: ParamsOf<"sessions.explain">): Promise<JsonObject> {
  const { sessionKey, newest = 1, turn, maxChars = DEFAULT_TEXT_CHARS } = params;
  const full = sessionKey === undefined ? undefined : kit.directory.resolve({ sessionKey }).sessionKey;
  const runId = full === undefined ? (params.runId ?? "") : await newestRun(kit, full, newest);
  const trace = await findTrace(kit, runId);
  const ofTurn = (attempts: readonly StoredAttempt[]) => attempts.findLast((one) => turn === undefined || one.turn === turn);
  const read = await readTrace(kit, trace, ofTurn);
  const shown = new ShownText(kit.redact, maxChars);
  const {
    attempts,
    asides = [],
    remarks = [],
    cut = [],
    joined = [],
    tools: _,
    lists: __,
    prompt: ___,
    v: ____,
    provider,
    model,
    error,
    ...facts
  } = trace;
  return {
    ...facts,
    ...(provider === undefined || model === undefined ? {} : { model: `${provider}/${model}` }),
    ...(error === undefined ? {} : { error: await shown.text(error) }),
    ...(joined.length === 0 ? {} : { joined }),
    durationMs: Math.max(0, trace.endedAt - trace.startedAt),
    asked: await shown.text(visibleText(read.own.flatMap((row) => (row.role === "user" ? [textOf(row.content)] : [])).join("\n\n"))),
    answer: await shown.text(visibleText(answerIn(read.own))),
    attempts: await Promise.all(attempts.map((one) => wireAttempt(one, shown))),
    asides,
    remarks: await Promise.all(remarks.map((text) => shown.text(text))),
    tools: await wireCalls(read.calls, shown),
    sources: sourcesOf(read.calls),
    ...(read.attempt ? { prompt: await wirePrompt(kit, { ...read, attempt: read.attempt }, shown) } : {}),
    notes: cut.map((what) => `no room in the trace for ${what}`),
  };
}

/** The last text of a run's answers. */
export function answerIn(own: readonly MessageRow[]): string {
  const answers = own.filter(({ role, kind }) => role === "assistant" && kind === undefined).map(({ content }) => textOf(content));
  return answers.findLast((text) => text.trim() !== "") ?? "";
}

async function wireAttempt(
  { list: _, input: __, isLast, isWithoutTools, ...attempt }: StoredAttempt,
  shown: ShownText,
): Promise<JsonObject> {
  const error = attempt.error === undefined ? {} : { error: await shown.text(attempt.error) };
  return { ...attempt, ...error, ...(isLast ? { isLast } : {}), ...(isWithoutTools ? { isWithoutTools } : {}) };
}

async function wireCalls(calls: readonly OwnCall[], shown: ShownText): Promise<JsonObject[]> {
  const out: JsonObject[] = [];
  for (const { id, name, args, result, use } of calls) {
    const { turn, at, ms, waitedMs } = use ?? {};
    out.push({
      id,
      name,
      ...defined({ turn, at, ms, waitedMs }),
      ...(args === undefined ? {} : { arguments: await shown.json(args) }),
      ...(result ? { result: await shown.text(textOf(result.content)) } : {}),
      ...(result?.isError || use?.isError ? { isError: true } : {}),
    });
  }
  return out;
}

function defined(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

async function wirePrompt(
  kit: Kit,
  { trace, attempt, prompt }: ReadTrace & { attempt: StoredAttempt },
  shown: ShownText,
): Promise<JsonObject> {
  const blocks = await readBlocks(kit.traces, trace.prompt, attempt);
  const isEmbedded = kit.catalog.provider(attempt.provider)?.embedded === true;
  const { messages, leftOut } = await wireMessages(prompt.messages, { ...attempt, isEmbedded }, shown);
  const notes = [
    ...blocks.notes,
    ...prompt.notes,
    ...(leftOut > 0 ? [`the ${leftOut} oldest messages are not shown: the answer would be too long`] : []),
  ];
  const { toolChoice } = attempt;
  return {
    turn: attempt.turn,
    model: `${attempt.provider}/${attempt.model}`,
    system: await shown.text(blocks.system),
    systemChars: blocks.system.length,
    tools: blocks.tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
    ...defined({ toolChoice, thinking: trace.prompt?.thinking, sampling: blocks.sampling }),
    messages,
    messageCount: attempt.messages,
    isExact: notes.length === 0,
    notes,
  };
}

/** Messages as the model got them, the newest within their room. */
async function wireMessages(
  rebuilt: readonly RebuiltMessage[],
  attempt: StoredAttempt & { isEmbedded: boolean },
  shown: ShownText,
): Promise<{ messages: JsonObject[]; leftOut: number }> {
  const plain = rebuilt.map(({ message }) => withoutMedia(message));
  const whole = attempt.isLast ? withText(plain, LAST_TURN) : plain;
  const { provider, model, input, isEmbedded } = attempt;
  const sent = forModel(whole, { provider, model, input, isEmbedded });
  const out: JsonObject[] = [];
  let left = MAX_MESSAGES_CHARS;
  for (let i = sent.length - 1; i >= 0 && left > 0; i--) {
    const wire = await wireMessage(sent[i] as ModelMessage, shown);
    const { media = 0, isCut = false } = rebuilt[i] ?? {};
    left -= JSON.stringify(wire).length;
    if (left >= 0) out.unshift({ ...wire, ...(media > 0 ? { media } : {}), ...(isCut ? { isCut } : {}) });
  }
  return { messages: out, leftOut: sent.length - out.length };
}

/** Pictures are counted, not shown. */
function withoutMedia(message: PromptMessage): PromptMessage {
  if (message.role === "tool") {
    const { images: _, ...rest } = message;
    return rest;
  }
  if (message.role === "assistant") return message;
  return { ...message, content: message.content.filter((part): part is Extract<UserPart, { type: "text" }> => part.type === "text") };
}

async function wireMessage(message: ModelMessage, shown: ShownText): Promise<JsonObject> {
  if (message.role === "tool") {
    const { role, name, text, isError } = message;
    return { role, name, text: await shown.text(text), ...(isError ? { isError } : {}) };
  }
  const textsOf = (type: "text" | "reasoning") =>
    message.content.flatMap((part) => (part.type === type && "text" in part ? [part.text] : [])).join("\n");
  const reasoning = textsOf("reasoning");
  const calls: JsonObject[] = [];
  for (const part of message.content) if (part.type === "toolCall") calls.push({ name: part.name, arguments: await shown.json(part.args) });
  return {
    role: message.role,
    text: await shown.text(textsOf("text")),
    ...(reasoning === "" ? {} : { reasoning: await shown.text(reasoning) }),
    ...(calls.length === 0 ? {} : { calls }),
  };
}
