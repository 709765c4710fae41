import { setImmediate as nextTurn } from "node:timers/promises";
import type { AssistantPart, MessageBlock, MessageRow, ModelMessage, ModelToolSpec, UserPart } from "svc/sdk";
import { contextOf } from "../sessions/sender.ts";
import type { PromptMessage } from "./replay-to-model.ts";

/** Bytes of UTF-8 per token: 3.8 to 4.8 in English, German and code, 3.4 to 3.6 in Chinese and Japanese. */
const BYTES_PER_TOKEN = 3;
/** Characters per token in encoded data, whose letters form no words. */
const DENSE_CHARS_PER_TOKEN = 1.3;
const IMAGE_TOKENS = 1_200;
/** Bytes of a document, and of a recording, per token. */
const PDF_BYTES_PER_TOKEN = 25;
const AUDIO_BYTES_PER_TOKEN = 500;
const MAX_PDF_TOKENS = 60_000;
/** Role and separators of one message. */
const MESSAGE_TOKENS = 4;
/** Characters that are counted at a stretch. */
const PIECE_CHARS = 200_000;
/** Least part of an estimate that a vendor's own count is believed with: some servers report nothing sensible. */
const LEAST_REPORTED = 0.3;

/** A longer run is counted in pieces: one of megabytes has no end on the stack of an expression. */
const denseRun = /[A-Za-z0-9+/=_-]{32,4096}/g;
const digit = /\d/;
const letter = /[A-Za-z]/;

/** Tokens of a text, rather too many than too few. */
export function textTokens(text: string): number {
  let dense = 0;
  for (const [run] of text.matchAll(denseRun)) if (digit.test(run) && letter.test(run)) dense += run.length;
  return Math.ceil((Buffer.byteLength(text) - dense) / BYTES_PER_TOKEN + dense / DENSE_CHARS_PER_TOKEN);
}

/** Tokens of one row as a model reads it. */
export function rowTokens(row: Pick<MessageRow, "role" | "content" | "details">): number {
  return row.content.reduce((sum, block) => sum + blockTokens(block), MESSAGE_TOKENS) + textTokens(contextOf(row) ?? "");
}

/** Tokens of the tools that a request offers. */
export function toolsTokens(tools: readonly ModelToolSpec[]): number {
  return tools.reduce((sum, tool) => sum + textTokens(JSON.stringify(tool)), 0);
}

/** Counted once: a message of a prompt does not change. */
const known = new WeakMap<ModelMessage, number>();

export function messageTokens(message: PromptMessage): number {
  const counted = known.get(message);
  if (counted !== undefined) return counted;
  const tokens = MESSAGE_TOKENS + contentTokens(message);
  known.set(message, tokens);
  return tokens;
}

/** Tokens of all messages; a long conversation is counted in pieces. */
export async function messagesTokens(messages: readonly ModelMessage[]): Promise<number> {
  return (await tokensOfEach(messages, messageTokens)).reduce((sum, tokens) => sum + tokens, 0);
}

/** Tokens of each of many things; long ones are counted in pieces. */
export async function tokensOfEach<T>(all: readonly T[], tokensOf: (one: T) => number): Promise<number[]> {
  const sizes: number[] = [];
  let left = PIECE_CHARS;
  for (const one of all) {
    const tokens = tokensOf(one);
    sizes.push(tokens);
    left -= tokens * BYTES_PER_TOKEN;
    if (left > 0) continue;
    left = PIECE_CHARS;
    await nextTurn();
  }
  return sizes;
}

/**
 * Tokens of a request: what its vendor counted for the newest answer of the same model, and an estimate of what came since; an estimate of everything while there
 * is no such answer.
 * @param fixed estimate of system prompt and tools
 */
export async function requestTokens(
  messages: readonly PromptMessage[],
  reader: { provider: string; model: string },
  fixed: number,
): Promise<number> {
  const all = fixed + (await messagesTokens(messages));
  const at = messages.findLastIndex(({ usedTokens, writtenBy }) => {
    return usedTokens !== undefined && writtenBy?.provider === reader.provider && writtenBy.model === reader.model;
  });
  const reported = messages[at]?.usedTokens;
  if (reported === undefined) return all;
  const since = messages.slice(at + 1).reduce((sum, message) => sum + messageTokens(message), 0);
  const before = all - since;
  return reported < before * LEAST_REPORTED ? all : reported + since;
}

function contentTokens(message: PromptMessage): number {
  if (message.role === "tool") return textTokens(message.text) + (message.images?.length ?? 0) * IMAGE_TOKENS;
  const parts: ReadonlyArray<UserPart | AssistantPart> = message.content;
  return parts.reduce((sum, part) => sum + (part.type === "toolCall" ? callTokens(part.name, part.args) : blockTokens(part)), 0);
}

function blockTokens(block: MessageBlock | UserPart): number {
  switch (block.type) {
    case "image":
      return block.data === "" ? 0 : IMAGE_TOKENS;
    case "file":
      return fileTokens(block);
    case "toolCall":
      return callTokens(block.name, block.arguments);
    default:
      return textTokens(block.text);
  }
}

function callTokens(name: string, args: unknown): number {
  return textTokens(name) + textTokens(typeof args === "string" ? args : (JSON.stringify(args) ?? ""));
}

function fileTokens({ data, mimeType }: { data: string; mimeType: string }): number {
  const bytes = (data.length * 3) / 4;
  if (bytes === 0) return 0;
  if (mimeType !== "application/pdf") return IMAGE_TOKENS + Math.ceil(bytes / AUDIO_BYTES_PER_TOKEN);
  return Math.min(MAX_PDF_TOKENS, IMAGE_TOKENS + Math.ceil(bytes / PDF_BYTES_PER_TOKEN));
}
