import { isRecord, type MessageBlock, type MessageRow } from "svc/sdk";
import { idFault, type Tree, toWellFormed } from "svc/sdk/internal";

/** A transcript row before the store has numbered it. */
export type NewMessage = Omit<MessageRow, "seq">;

const MAX_ID = 200;
const MAX_NAME = 200;

/**
 * Turns one line of a foreign transcript into a row. Reasoning is left out: vendors take it back only with their own signature.
 * @returns undefined for lines that are no message of a person, an assistant or a tool
 */
export function toMessage(entry: Tree, place: { sessionId: string; at: number; ts: number }): NewMessage | undefined {
  const message = entry.type === "message" && isRecord(entry.message) ? entry.message : undefined;
  const role = message?.role;
  if (!message || (role !== "user" && role !== "assistant" && role !== "toolResult")) return undefined;
  const content = blocksOf(message.content);
  if (content.length === 0) return undefined;
  const row: NewMessage = {
    id: idOf(entry.id) ?? `line-${place.at}`,
    sessionId: place.sessionId,
    ts: timeOf(message, entry) ?? place.ts,
    role,
    content,
  };
  if (role === "toolResult")
    return {
      ...row,
      ...named("toolCallId", message.toolCallId),
      ...named("toolName", message.toolName),
      isError: message.isError === true,
    };
  if (role === "user") return row;
  const wasCut = message.stopReason === "aborted" || message.stopReason === "error";
  return { ...row, ...named("provider", message.provider), ...named("model", message.model), ...(wasCut ? { aborted: true } : {}) };
}

/** Epoch ms of a line: that of the message, else that of the line around it. */
function timeOf(message: Tree, entry: Tree): number | undefined {
  for (const value of [message.timestamp, entry.timestamp]) {
    const ms = typeof value === "number" ? value : typeof value === "string" ? Date.parse(value) : Number.NaN;
    if (Number.isSafeInteger(ms) && ms >= 0) return ms;
  }
  return undefined;
}

/** Ids of the foreign tree are unique in their transcript; one that no id may be gets another. */
function idOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" && value.length <= MAX_ID && idFault(value) === undefined ? value : undefined;
}

function named<K extends string>(key: K, value: unknown): { [P in K]?: string } {
  const isName = typeof value === "string" && value !== "" && value.length <= MAX_NAME;
  return (isName ? { [key]: toWellFormed(value) } : {}) as { [P in K]?: string };
}

function blocksOf(content: unknown): MessageBlock[] {
  if (typeof content === "string") return textBlock(content);
  if (!Array.isArray(content)) return [];
  return content.filter(isRecord).flatMap((block): MessageBlock[] => {
    const { type, text, id, name, data, mimeType } = block;
    if (type === "text" && typeof text === "string") return textBlock(text);
    if (type === "image" && typeof data === "string" && typeof mimeType === "string") return [{ type: "image", mimeType, data }];
    if (type === "toolCall" && typeof id === "string" && typeof name === "string") {
      return [{ type: "toolCall", id: toWellFormed(id), name: toWellFormed(name), arguments: block.arguments ?? {} }];
    }
    return [];
  });
}

function textBlock(text: string): MessageBlock[] {
  return text === "" ? [] : [{ type: "text", text: toWellFormed(text) }];
}
