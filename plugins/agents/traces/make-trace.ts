import { createHash } from "node:crypto";
import type { ModelMessage, ModelToolSpec, RunOutcome } from "svc/sdk";
import { cutMiddle } from "../common/cut.ts";
import type { Run } from "../runs/run.ts";
import type { RunTrace, TracedPrompt } from "./run-trace.ts";
import type {
  ComposedMessage,
  GivenMessages,
  LiteralMessage,
  StoredBlock,
  StoredList,
  StoredMessage,
  StoredPrompt,
  StoredTrace,
} from "./stored-trace.ts";

/** Longest text of one block: of a part of the system prompt, of the tools. */
const MAX_BLOCK_CHARS = 262_144;
/** Texts of all messages of a run that no transcript has, the newest first. */
const MAX_LITERAL_CHARS = 32_768;
/** JSON of one trace. */
const MAX_TRACE_CHARS = 262_144;
const MAX_JOINED = 50;
const MAX_ERROR_CHARS = 1_000;

/** A trace and the blocks that it names and that are not stored yet. */
export interface MadeTrace {
  trace: StoredTrace;
  blocks: Map<string, StoredBlock>;
  /** All blocks that it names. */
  names: string[];
}

interface Means {
  /** Masks secrets. */
  redact(text: string): Promise<string>;
  isKnown(block: string): boolean;
}

/** The trace of a run that has ended; undefined for one that never began. */
export async function makeTrace(run: Run, outcome: RunOutcome, { redact, isKnown }: Means): Promise<MadeTrace | undefined> {
  const { trace } = run;
  if (run.startedAt === undefined) return undefined;
  const named = trace.prompt && namedBlocks(trace.prompt, run);
  const lists = await Promise.all(trace.lists.map(({ messages, chars }) => storedList(messages, chars, redact)));
  const cut = limitLiterals(lists);
  const { attempts, tools, asides } = trace;
  const remarks = await Promise.all(trace.remarks.map((text) => redact(text)));
  for (const attempt of attempts) if (attempt.error !== undefined) attempt.error = await redact(attempt.error);
  const made: StoredTrace = {
    v: 1,
    ...factsOf(run, outcome),
    ...(outcome.error === undefined ? {} : { error: (await redact(outcome.error)).slice(0, MAX_ERROR_CHARS) }),
    ...(named ? { prompt: named.prompt } : {}),
    lists,
    attempts,
    tools,
    ...(asides.length === 0 ? {} : { asides }),
    ...(remarks.length === 0 ? {} : { remarks }),
    ...cutNote([...cut, ...leftOut(trace)]),
  };
  const blocks = new Map<string, StoredBlock>();
  // A block may be deleted while others are made: what is missing is made until nothing is.
  for (const [name, make] of named?.blocks ?? []) if (!isKnown(name)) blocks.set(name, await blockOf(make(), redact));
  const names = [...(named?.blocks.keys() ?? [])];
  return { trace: within(made), blocks, names };
}

function factsOf(run: Run, outcome: RunOutcome) {
  const { status, code, stopReason, usage, provider, model, endedAt } = outcome;
  const startedAt = run.startedAt ?? run.acceptedAt;
  return {
    runId: run.id,
    agentId: run.agent.id,
    sessionKey: run.sessionKey,
    sessionId: run.sessionId,
    trigger: run.request.trigger,
    acceptedAt: run.acceptedAt,
    startedAt,
    endedAt: endedAt ?? startedAt,
    status,
    ...(code === undefined ? {} : { code }),
    stopReason,
    ...(provider === undefined ? {} : { provider }),
    ...(model === undefined ? {} : { model }),
    usage,
    ...(run.followers.length === 0 ? {} : { joined: run.followers.slice(0, MAX_JOINED).map(({ id }) => id) }),
  };
}

/** Names of blocks by the hash of their text, and what makes each of them. */
function namedBlocks(prompt: TracedPrompt, run: Run): { prompt: StoredPrompt; blocks: Map<string, () => string> } {
  const blocks = new Map<string, () => string>();
  const name = (of: string, make: () => string) => {
    blocks.set(of, make);
    return of;
  };
  const text = (value: string) => name(hashOf(value), () => value);
  const tools = (specs: readonly ModelToolSpec[]) => name(hashOf(specs.map(hashOfTool).join()), () => toolsText(specs));
  const { clientTools = [] } = run.request;
  const { sampling, attempts } = run.trace;
  const hasWithoutTools = attempts.some(({ isWithoutTools }) => isWithoutTools);
  return {
    prompt: {
      system: prompt.parts.map(text),
      ...(hasWithoutTools ? { systemWithoutTools: prompt.partsWithoutTools.map(text) } : {}),
      ...(prompt.tools.length === 0 ? {} : { tools: tools(prompt.tools) }),
      ...(clientTools.length === 0 ? {} : { clientTools: tools(clientTools) }),
      ...(sampling === undefined ? {} : { sampling: text(JSON.stringify(sampling)) }),
      thinking: prompt.thinking,
    },
    blocks,
  };
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 22);
}

/** Specs of an agent's tools are made once and used by every run. */
const toolHashes = new WeakMap<ModelToolSpec, string>();

function hashOfTool(spec: ModelToolSpec): string {
  const known = toolHashes.get(spec) ?? hashOf(JSON.stringify(spec));
  toolHashes.set(spec, known);
  return known;
}

/** The tools as JSON; without their schemas where it would be too long. */
function toolsText(specs: readonly ModelToolSpec[]): string {
  const text = JSON.stringify(specs);
  if (text.length <= MAX_BLOCK_CHARS) return text;
  return JSON.stringify(specs.map(({ name }) => ({ name, description: "", inputSchema: {} })).slice(0, 1_000));
}

async function blockOf(text: string, redact: Means["redact"]): Promise<StoredBlock> {
  const clean = await redact(text);
  if (clean.length <= MAX_BLOCK_CHARS) return { text: clean };
  return { text: cutMiddle(clean, MAX_BLOCK_CHARS), cutFrom: clean.length };
}

async function storedList(messages: readonly StoredMessage[], chars: number, redact: Means["redact"]): Promise<StoredList> {
  const out: StoredMessage[] = [];
  for (const message of messages) {
    const before = out.at(-1);
    if (typeof message === "number") {
      const isNext = Array.isArray(before) ? before[1] === message - 1 : before === message - 1;
      if (isNext) out[out.length - 1] = [Array.isArray(before) ? before[0] : message - 1, message];
      else out.push(message);
    } else if (isGiven(message)) {
      if (before !== undefined && isGiven(before)) out[out.length - 1] = { given: before.given + message.given };
      else out.push(message);
    } else out.push(Array.isArray(message) ? message : await masked(message as ComposedMessage | LiteralMessage, redact));
  }
  return { messages: out, chars };
}

async function masked(message: ComposedMessage | LiteralMessage, redact: Means["redact"]): Promise<StoredMessage> {
  if (isLiteral(message)) return { ...message, literal: await maskedMessage(message.literal, redact) };
  if (!message.notes) return message;
  return { ...message, notes: await Promise.all(message.notes.map((note) => (typeof note === "string" ? redact(note) : note))) };
}

/** A message whose texts and arguments have no secrets. */
async function maskedMessage(message: ModelMessage, redact: Means["redact"]): Promise<ModelMessage> {
  const text = JSON.stringify(message);
  const clean = await redact(text);
  if (clean === text) return message;
  try {
    return JSON.parse(clean) as ModelMessage;
  } catch {
    return emptied(message);
  }
}

/** Keeps the newest texts within their room. @returns what was left out, in words */
function limitLiterals(lists: readonly StoredList[]): string[] {
  let left = MAX_LITERAL_CHARS;
  let count = 0;
  for (const list of lists.toReversed())
    for (let i = list.messages.length - 1; i >= 0; i--) {
      const message = list.messages[i] as StoredMessage;
      if (!isLiteral(message)) continue;
      left -= JSON.stringify(message.literal).length;
      if (left >= 0) {
        if (message.cut) count += 1;
        continue;
      }
      count += 1;
      list.messages[i] = { literal: emptied(message.literal), cut: true };
    }
  return count === 0 ? [] : [`texts of ${count} messages that no transcript has`];
}

export function isLiteral(message: StoredMessage): message is LiteralMessage {
  return typeof message === "object" && "literal" in message;
}

export function isGiven(message: StoredMessage): message is GivenMessages {
  return typeof message === "object" && "given" in message;
}

function emptied(message: ModelMessage): ModelMessage {
  if (message.role === "tool") return { ...message, text: "" };
  return { role: message.role, content: [] };
}

function leftOut({ leftOut: { attempts, tools, lists } }: RunTrace): string[] {
  return [
    ...(attempts > 0 ? [`${attempts} requests to models`] : []),
    ...(tools > 0 ? [`${tools} calls of tools`] : []),
    ...(lists > 0 ? ["the messages after so many compactions"] : []),
  ];
}

function cutNote(cut: readonly string[]): { cut?: readonly string[] } {
  return cut.length === 0 ? {} : { cut };
}

/** One that is too large for all that goes without the places of its messages. */
function within(trace: StoredTrace): StoredTrace {
  if (JSON.stringify(trace).length <= MAX_TRACE_CHARS) return trace;
  return {
    ...trace,
    lists: trace.lists.map(({ chars }) => ({ messages: [], chars })),
    cut: [...(trace.cut ?? []), "the messages: the trace was too large"],
  };
}
