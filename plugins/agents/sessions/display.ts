import { cutEnd, isRecord, type JsonObject, type MessageBlock, type MessageRow, stripFrames } from "svc/sdk";
import { contextOf, senderOf } from "./sender.ts";

/** A larger message is shown as a placeholder; bytes of its JSON. */
const MAX_MESSAGE_BYTES = 131_072;
/** Contents of files and pictures are shown up to this many characters of base64 together; a larger one is named only, so that its message stays readable. */
const MAX_FILES_CHARS = 65_536;
/** A character of JSON text is at most this many bytes, escapes included. */
const MAX_BYTES_PER_CHAR = 6;
const MAX_DETAILS_CHARS = 65_536;
/** Longer reasoning is cut: it must not hide the answer that followed it. */
const MAX_REASONING_CHARS = 8_192;

const silentTokens = /^\s*(?:NO_REPLY|HEARTBEAT_OK)\s*$/;
const replyDirective = /\[\[\s*reply_to[^\]\n]{0,200}\]\]/g;
const controlToken = /<\|[a-z_]{1,40}\|>/gi;

/** A stored message as `chat.history` and the events show it. */
export function toWireMessage(row: MessageRow, maxChars = Number.MAX_SAFE_INTEGER): JsonObject {
  const content = withoutLargeFiles(row.content).flatMap((block) => showBlock(block, row.role, maxChars));
  const message: JsonObject = {
    role: row.role,
    content,
    timestamp: row.ts,
    ...pick(row, ["toolCallId", "toolName", "isError", "stopReason", "aborted", "usage", "provider", "model"]),
    ...detailsOf(row),
    __svc: { id: row.id, seq: row.seq, ...pick(row, ["runId", "kind"]) },
  };
  if (isSmall(row, maxChars) || Buffer.byteLength(JSON.stringify(message)) <= MAX_MESSAGE_BYTES) return message;
  const { details: _, ...rest } = message;
  return { ...rest, content: [{ type: "text", text: "[message too large to show]" }], truncated: true };
}

function withoutLargeFiles(content: readonly MessageBlock[]): MessageBlock[] {
  let left = MAX_FILES_CHARS;
  return content.map((block) => {
    if (block.type !== "file" && block.type !== "image") return block;
    left -= block.data.length;
    return left < 0 ? { ...block, data: "" } : block;
  });
}

/** Most messages need no measuring. */
function isSmall({ content, details }: MessageRow, maxChars: number): boolean {
  if (details !== undefined) return false;
  const chars = content.reduce(
    (sum, b) => sum + (b.type === "text" ? Math.min(b.text.length, maxChars) : b.type === "image" ? b.data.length : MAX_MESSAGE_BYTES),
    0,
  );
  return (chars + 1_000) * MAX_BYTES_PER_CHAR <= MAX_MESSAGE_BYTES;
}

/** Text that people see: no reply directives, no leaked control tokens, no frames of external text, nothing for a bare silent token. */
export function visibleText(text: string): string {
  if (silentTokens.test(text)) return "";
  return stripFrames(text.replace(replyDirective, "").replace(controlToken, ""));
}

/** Removes the frames that surround external text for the model's sake from text of a person or a tool. */
export function unframed(text: string): string {
  // Long results of tools are searched for a word instead of being folded character by character.
  return text.includes("EXTERNAL_UNTRUSTED_CONTENT") ? stripFrames(text) : text;
}

function showBlock(block: MessageBlock, role: MessageRow["role"], maxChars: number): JsonObject[] {
  if (block.type === "image" || block.type === "file") return [{ ...block }];
  if (block.type === "toolCall") {
    const { meta: _, ...shown } = block;
    return [shown];
  }
  if (block.type === "reasoning") {
    const { text, redacted } = block;
    // A block that is its vendor's signature alone has nothing to show.
    if (text === "" && !redacted) return [];
    return [{ type: "reasoning", text: cutEnd(text, Math.min(maxChars, MAX_REASONING_CHARS)), ...(redacted ? { redacted } : {}) }];
  }
  const text = cutEnd(role === "assistant" ? visibleText(block.text) : unframed(block.text), maxChars);
  return text === "" && role !== "toolResult" ? [] : [{ type: "text", text }];
}

/** The author of a message of a person; of other rows what tools and plugins said beside the text. What only models read is left out. */
function detailsOf(row: MessageRow): JsonObject {
  const sender = senderOf(row);
  if (sender) return { sender };
  const { details } = row;
  if (contextOf(row) === undefined || !isRecord(details)) return smallDetails(details);
  const { context: _, ...rest } = details;
  return Object.keys(rest).length === 0 ? {} : smallDetails(rest);
}

function smallDetails(details: unknown): JsonObject {
  if (details === undefined) return {};
  return (JSON.stringify(details) ?? "").length <= MAX_DETAILS_CHARS ? { details } : {};
}

function pick<T extends object, K extends keyof T>(from: T, keys: readonly K[]): Partial<Pick<T, K>> {
  return Object.fromEntries(keys.filter((k) => from[k] !== undefined).map((k) => [k, from[k]])) as Partial<Pick<T, K>>;
}
