import { cleanExternalLine, isRecord, isSvcError, type ToolResult, wrapExternal } from "svc/sdk";
import { toWellFormed } from "svc/sdk/internal";
import { failureOf, reasonOf } from "./failures.ts";

/** Longest text of one result before it is framed; the run loop makes it fit its budget. */
export const MAX_TEXT_CHARS = 150_000;
const MAX_PARTS = 256;
const MAX_LINE_CHARS = 500;

/** Origin of foreign text, for its frame. */
export interface ForeignSource {
  server: string;
  /** Tool, resource or prompt. */
  of: string;
  /** Takes the secrets of the server out of a text. */
  hide(text: string): string;
}

/** Answer of a server to a call, as a tool result: everything in it is framed as foreign text. Pure. */
export function toToolResult(answer: Record<string, unknown>, source: ForeignSource): ToolResult {
  const parts = Array.isArray(answer.content) ? answer.content : [];
  const texts = parts.slice(0, MAX_PARTS).map(partText);
  if (parts.length > MAX_PARTS) texts.push(`[${parts.length - MAX_PARTS} more parts left out]`);
  // A structured answer comes as text as well, unless the server left that out.
  if (!parts.some((part) => isRecord(part) && part.type === "text") && isRecord(answer.structuredContent))
    texts.push(jsonText(answer.structuredContent));
  const { content, ...rest } = framed(texts.join("\n"), source, answer.isError === true);
  return { ...rest, content: [...content, ...parts.slice(0, MAX_PARTS).flatMap(pictureOf)] };
}

/** A picture as models get it; the run loop leaves out what no model takes. */
function pictureOf(part: unknown): ToolResult["content"] {
  if (!isRecord(part) || part.type !== "image" || typeof part.mimeType !== "string" || typeof part.data !== "string") return [];
  return [{ type: "image", mimeType: part.mimeType, data: part.data }];
}

/** Foreign text as a result. */
export function framed(text: string, { server, of, hide }: ForeignSource, isError = false): ToolResult {
  const shown = text.trim() === "" ? "(nothing)" : hide(clamp(text, MAX_TEXT_CHARS));
  const content = [{ type: "text" as const, text: wrapExternal(shown, { source: `MCP server ${server}`, task: of }) }];
  return { content, details: { server, of: cleanExternalLine(of), chars: text.length }, ...(isError ? { isError } : {}) };
}

/** An error that the server answered with is foreign text, too. @throws every other error, and the reason of the signal */
export function foreignFailure(error: unknown, source: ForeignSource, signal: AbortSignal): ToolResult {
  signal.throwIfAborted();
  if (isSvcError(error) || failureOf(error) !== "answered") throw error;
  return framed(`The server answered with an error: ${reasonOf(error)}`, source, true);
}

/** Messages of a prompt, or contents of a resource, as text. */
export function partsText(parts: unknown): string {
  if (!Array.isArray(parts)) return "";
  return parts
    .slice(0, MAX_PARTS)
    .map((part) => {
      if (!isRecord(part)) return "";
      if (isRecord(part.content)) return `${line(part.role)}: ${partText(part.content)}`;
      return partText({ type: "resource", resource: part });
    })
    .join("\n\n");
}

function partText(part: unknown): string {
  if (!isRecord(part)) return "[a part of an unknown kind]";
  switch (part.type) {
    case "text":
      return typeof part.text === "string" ? part.text : "";
    case "image":
    case "audio":
      return `[${part.type} ${line(part.mimeType)}, ${byteCount(part.data)} bytes]`;
    case "resource_link":
      return `[resource ${line(part.uri)}: ${line(part.title ?? part.name)}]`;
    case "resource": {
      const { uri, text, mimeType, blob } = isRecord(part.resource) ? part.resource : {};
      const head = `[resource ${line(uri)}]`;
      return typeof text === "string" ? `${head}\n${text}` : `${head} [${line(mimeType)}, ${byteCount(blob)} bytes]`;
    }
    default:
      return `[a part of the kind ${line(part.type)}]`;
  }
}

function line(value: unknown): string {
  return typeof value === "string" ? cleanExternalLine(value, MAX_LINE_CHARS) : "?";
}

function byteCount(base64: unknown): number {
  return typeof base64 === "string" ? Math.floor((base64.length * 3) / 4) : 0;
}

function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value, null, 1);
  } catch {
    return "[an answer that is nested too deeply]";
  }
}

/** Head and tail of a text that is too long. */
export function clamp(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const head = Math.floor(maxChars * 0.6);
  const tail = Math.floor(maxChars * 0.4);
  const left = text.length - head - tail;
  return toWellFormed(`${text.slice(0, head)}\n[… ${left} of ${text.length} characters left out …]\n${text.slice(text.length - tail)}`);
}
