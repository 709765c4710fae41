import {
  type AssistantPart,
  type Clock,
  cutEnd,
  isModelError,
  type ModelMessage,
  type ModelRequest,
  type ModelToolSpec,
  messageOf,
} from "svc/sdk";
import { cutMiddle } from "../common/cut.ts";
import { withCost } from "../models/cost.ts";
import type { TurnResult } from "../models/turn.ts";
import type { PromptMessage } from "../runs/replay-to-model.ts";
import { CLEARED } from "../sessions/compaction.ts";
import { sourceOf } from "./source.ts";
import type { LiteralMessage, StoredAside, StoredAttempt, StoredMessage, StoredToolUse } from "./stored-trace.ts";

/** Limits of one run; the rest is counted. */
const MAX_ATTEMPTS = 200;
const MAX_TOOL_USES = 500;
const MAX_LISTS = 8;
const MAX_ASIDES = 20;
/** Longest text of one message that no transcript has. */
const MAX_LITERAL_CHARS = 8_192;
const MAX_ERROR_CHARS = 500;
const MAX_REMARKS = 20;
const MAX_REMARK_CHARS = 500;

/** The part of a prompt that a trace is made of. */
export interface TracedPrompt {
  readonly parts: readonly string[];
  readonly partsWithoutTools: readonly string[];
  readonly tools: readonly ModelToolSpec[];
  readonly messages: readonly PromptMessage[];
  readonly thinking: string;
}

/** A request that is about to be sent. */
export interface Asked {
  request: ModelRequest;
  prompt: TracedPrompt;
  provider: string;
  isLast: boolean;
  isWithoutTools: boolean;
  input: StoredAttempt["input"];
  /** Prices of the model, as far as they are known when it has answered. */
  cost(): Parameters<typeof withCost>[1];
  clock: Pick<Clock, "now" | "monotonic">;
}

/** Messages of one prompt as they are added to it. */
export interface TracedList {
  /** Undefined once another list has begun. */
  source: readonly PromptMessage[] | undefined;
  messages: StoredMessage[];
  chars: number;
}

/**
 * Facts that a run collects of its requests and tools while it works: references, numbers and names, no copy of what the transcript has. Nothing is stored before
 * the end.
 */
export class RunTrace {
  readonly lists: TracedList[] = [];
  readonly attempts: StoredAttempt[] = [];
  readonly tools: StoredToolUse[] = [];
  readonly asides: StoredAside[] = [];
  /** Remarks of plugins on the prompt. */
  readonly remarks: string[] = [];
  /** Requests, calls and lists that there was no room for. */
  readonly leftOut = { attempts: 0, tools: 0, lists: 0 };
  /** Of the newest request. */
  prompt: TracedPrompt | undefined;
  sampling: ModelRequest["sampling"];
  #turn = 0;

  nextTurn(): void {
    this.#turn += 1;
  }

  /** Records a request and what came of it. */
  async attempt(asked: Asked, call: () => Promise<TurnResult>): Promise<TurnResult> {
    const { clock } = asked;
    const from = clock.monotonic();
    const entry = this.#begin(asked);
    try {
      const made = await call();
      entry.finish = made.finish;
      if (made.toolCalls.length > 0) entry.toolCalls = made.toolCalls.length;
      entry.usage = withCost(made.usage, asked.cost());
      return made;
    } catch (error) {
      Object.assign(entry, faultOf(error));
      throw error;
    } finally {
      entry.ms = rounded(clock.monotonic() - from);
    }
  }

  /** A model that was passed over, because its provider cannot be asked. */
  notReady(ref: { provider: string; model: string }, error: unknown, at: number): void {
    this.#add({ turn: this.#turn, ...ref, at, ms: 0, list: Math.max(0, this.lists.length - 1), messages: 0, ...faultOf(error) });
  }

  /** The newest answer was not taken. */
  rejected(fault: string): void {
    const last = this.attempts.at(-1);
    if (last) last.fault = fault;
  }

  tool({ id, name }: { id: string; name: string }, took: { at: number; ms: number; waitedMs: number; isError: boolean }): void {
    if (this.tools.length >= MAX_TOOL_USES) {
      this.leftOut.tools += 1;
      return;
    }
    const waitedMs = rounded(took.waitedMs);
    this.tools.push({
      turn: this.#turn,
      id,
      name,
      at: took.at,
      ms: rounded(took.ms),
      ...(waitedMs > 0 ? { waitedMs } : {}),
      ...(took.isError ? { isError: true } : {}),
    });
  }

  /** Lets go of the texts, once they are stored. */
  release(): void {
    this.prompt = undefined;
    this.lists.length = 0;
  }

  aside(aside: StoredAside): void {
    if (this.asides.length < MAX_ASIDES) this.asides.push(aside);
  }

  remark(texts: readonly string[]): void {
    for (const text of texts.slice(0, MAX_REMARKS - this.remarks.length)) this.remarks.push(cutEnd(text, MAX_REMARK_CHARS));
  }

  #begin({ request, prompt, provider, isLast, isWithoutTools, input, clock }: Asked): StoredAttempt {
    this.prompt = prompt;
    this.sampling = request.sampling;
    const list = this.#listOf(prompt.messages);
    return this.#add({
      turn: this.#turn,
      provider,
      model: request.model,
      at: clock.now(),
      ms: 0,
      list,
      messages: prompt.messages.length,
      ...(isWithoutTools ? { isWithoutTools } : {}),
      ...(isLast ? { isLast } : {}),
      ...(request.toolChoice === undefined ? {} : { toolChoice: request.toolChoice }),
      ...(input === undefined ? {} : { input }),
    });
  }

  #add(entry: StoredAttempt): StoredAttempt {
    if (this.attempts.length < MAX_ATTEMPTS) this.attempts.push(entry);
    else this.leftOut.attempts += 1;
    return entry;
  }

  /** A list grows in place, so only what is new in it is looked at. @returns its place */
  #listOf(messages: readonly PromptMessage[]): number {
    let list = this.lists.at(-1);
    if (list?.source !== messages) {
      if (list) list.source = undefined;
      if (this.lists.length === MAX_LISTS) this.leftOut.lists += 1;
      if (this.lists.length > MAX_LISTS) return MAX_LISTS;
      list = { source: messages, messages: [], chars: 0 };
      this.lists.push(list);
    }
    // The list beyond the last one stays empty.
    if (this.lists.length > MAX_LISTS) return MAX_LISTS;
    for (const message of messages.slice(list.messages.length)) this.#take(list, message);
    return this.lists.length - 1;
  }

  #take(list: TracedList, message: PromptMessage): void {
    const source = message.role === "tool" && message.text === CLEARED ? undefined : sourceOf(message);
    if (!source) {
      list.messages.push(literalOf(message));
      return;
    }
    if (source.isGiven) {
      list.messages.push({ given: message.role[0] ?? "u" });
      return;
    }
    const { rows = [], notes = [], run } = source;
    const ownChars = notes.reduce<number>((sum, note) => sum + (typeof note === "string" ? note.length : 0), 0);
    list.chars += charsOf(message) - ownChars;
    const media = mediaOf(message);
    const [row] = rows;
    const isPlain = rows.length === 1 && notes.length === 0 && run === undefined && media === 0;
    list.messages.push(isPlain && row !== undefined ? row : { ...source, ...(media > 0 ? { media } : {}) });
  }
}

/** Characters of the texts of a message. */
export function charsOf(message: PromptMessage): number {
  if (message.role === "tool") return message.text.length;
  let sum = 0;
  for (const part of message.content) if (part.type === "text" || part.type === "reasoning") sum += part.text.length;
  return sum;
}

/** Number of pictures and files of a message. */
export function mediaOf(message: PromptMessage): number {
  if (message.role === "assistant") return 0;
  if (message.role === "tool") return message.images?.length ?? 0;
  return message.content.filter(({ type }) => type !== "text").length;
}

/** A message in full, without the vendor's data and with notes in the place of pictures. */
function literalOf(message: PromptMessage): LiteralMessage {
  let isCut = false;
  const cut = (text: string) => {
    isCut ||= text.length > MAX_LITERAL_CHARS;
    return cutMiddle(text, MAX_LITERAL_CHARS);
  };
  const literal = plainMessage(message, cut);
  return { literal, ...(isCut ? { cut: true } : {}) };
}

function plainMessage(message: PromptMessage, cut: (text: string) => string): ModelMessage {
  if (message.role === "tool") {
    const { toolCallId, name, text, isError } = message;
    return { role: "tool", toolCallId, name, text: cut(text), ...(isError ? { isError } : {}) };
  }
  if (message.role === "user") {
    const content = message.content.map((part) => ({
      type: "text" as const,
      text: part.type === "text" ? cut(part.text) : `[${part.type}]`,
    }));
    return { role: "user", content };
  }
  return { role: "assistant", content: message.content.map((part) => plainPart(part, cut)) };
}

function plainPart(part: AssistantPart, cut: (text: string) => string): AssistantPart {
  if (part.type !== "toolCall") return { type: part.type, text: cut(part.text) };
  const { id, name, args } = part;
  const isLong = cut(JSON.stringify(args) ?? "").length >= MAX_LITERAL_CHARS;
  return { type: "toolCall", id, name, args: isLong ? {} : args };
}

function faultOf(error: unknown): { fault: string; error: string } {
  return { fault: isModelError(error) ? error.fault : "aborted", error: messageOf(error).slice(0, MAX_ERROR_CHARS) };
}

function rounded(ms: number): number {
  return Math.max(0, Math.round(ms));
}
