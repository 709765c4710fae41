import { createHash } from "node:crypto";
import type { AssistantPart, ModelInput, ModelMessage, UserPart } from "svc/sdk";
import type { ModelRef } from "../models/choice.ts";

/** A message of a prompt, before it is known which model reads it: an answer says which one wrote it, as far as that is known. */
export type PromptMessage = ModelMessage & {
  writtenBy?: ModelRef | undefined;
  /** Tokens of the request that it answers and of itself, as its vendor counted them; absent where the prompt has changed since. */
  usedTokens?: number | undefined;
  /** Pictures in the result of a tool. */
  images?: readonly UserImage[];
};

export type UserImage = Extract<UserPart, { type: "image" }>;

/** The model that is to read a prompt. `input`: what it reads, absent when nobody says. `isEmbedded`: it quotes notes, and takes every word for a question. */
export interface Reader extends ModelRef {
  input?: readonly ModelInput[] | undefined;
  isEmbedded?: boolean;
}

/** The line about a message that the gateway puts before it. */
type ContextPart = Extract<UserPart, { type: "text" }> & { isContext: true };

export function contextParts(line: string | undefined): UserPart[] {
  if (line === undefined) return [];
  const part: ContextPart = { type: "text", text: line, isContext: true };
  return [part];
}

const UNSEEN = "[image, which this model cannot see]";
const plainId = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * The messages as one model takes them. Reasoning, and what a vendor noted about its answer, go back only to the model that wrote them; ids of calls that
 * another vendor may refuse are replaced, in call and result alike; media that it cannot read becomes a note. Pictures of results follow them in a message of the user: few vendors take them in
 * the result itself. Pure.
 */
export function forModel(messages: readonly PromptMessage[], reader: Reader): ModelMessage[] {
  const ids = new Map<string, string>();
  const sees = reader.input?.includes("image") === true;
  return withPictures(messages, sees).map((message): ModelMessage => {
    if (message.role === "user") return { role: "user", content: message.content.flatMap((part) => readable(part, reader)) };
    if (message.role === "tool") {
      const { images = [], writtenBy: _, usedTokens: __, ...result } = message;
      const text = sees ? result.text : [result.text, ...images.map(() => UNSEEN)].filter((line) => line !== "").join("\n");
      return { ...result, text, toolCallId: ids.get(result.toolCallId) ?? result.toolCallId };
    }
    const isOwn = message.writtenBy?.provider === reader.provider && message.writtenBy.model === reader.model;
    const content = joinedTexts(isOwn ? message.content : message.content.flatMap(withoutMeta));
    return {
      role: "assistant",
      content: content.map((part) => {
        if (part.type !== "toolCall") return part;
        const id = isOwn ? part.id : plain(part.id);
        ids.set(part.id, id);
        return id === part.id ? part : { ...part, id };
      }),
    };
  });
}

/** Texts that follow each other are lines of one text: some vendors would run them together. One with data of its vendor stays as it is. */
function joinedTexts(content: readonly AssistantPart[]): AssistantPart[] {
  const out: AssistantPart[] = [];
  for (const part of content) {
    const last = out.at(-1);
    if (part.type === "text" && last?.type === "text" && !part.meta && !last.meta)
      out[out.length - 1] = { type: "text", text: `${last.text}\n${part.text}` };
    else out.push(part);
  }
  return out;
}

function withoutMeta(part: AssistantPart): AssistantPart[] {
  if (part.type === "reasoning") return [];
  if (part.meta === undefined) return [part];
  const { meta: _, ...rest } = part;
  return [rest];
}

/** The same for the same id, wherever it stands. */
function plain(id: string): string {
  return plainId.test(id) ? id : `call_${createHash("sha256").update(id).digest("hex").slice(0, 32)}`;
}

/** Messages with the pictures of each group of results behind it, for a model that is known to see: most of the others refuse the whole request. */
function withPictures(messages: readonly PromptMessage[], sees: boolean): PromptMessage[] {
  if (!sees) return [...messages];
  let waiting: UserPart[] = [];
  const out: PromptMessage[] = [];
  const flush = (next?: Extract<PromptMessage, { role: "user" }>) => {
    const content = [...waiting, ...(next?.content ?? [])];
    waiting = [];
    if (content.length > 0) out.push({ ...next, role: "user", content });
  };
  for (const message of messages) {
    if (message.role === "user") flush(message);
    else {
      if (message.role === "assistant") flush();
      out.push(message);
      const { images = [] } = message;
      if (message.role === "tool" && images.length > 0)
        waiting.push({ type: "text", text: `[pictures in the result of ${message.name}]` }, ...images);
    }
  }
  flush();
  return out;
}

function readable(part: UserPart, { input, isEmbedded }: Reader): UserPart[] {
  if ("isContext" in part && part.type === "text") return isEmbedded ? [] : [{ type: "text", text: part.text }];
  if (part.type === "text") return [part];
  if (part.type === "image") {
    return input === undefined || input.includes("image") ? [part] : [{ type: "text", text: UNSEEN }];
  }
  const kind = part.mimeType === "application/pdf" ? "pdf" : "audio";
  const name = part.fileName === undefined ? part.mimeType : part.fileName;
  return input?.includes(kind) ? [part] : [{ type: "text", text: `[file ${name}, which this model cannot read]` }];
}
