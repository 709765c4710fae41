import type { AssistantPart, JsonObject, ModelMessage, UserPart } from "svc/sdk";

/** Message of the Converse API. */
export interface Message {
  role: "user" | "assistant";
  content: JsonObject[];
}

const imageFormats: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpeg",
  "image/gif": "gif",
  "image/webp": "webp",
};
const MAX_NAME_CHARS = 190;

/**
 * Messages in turn: the results of all calls of an answer stand in one message, together with what the user says then. Pure.
 * @param claude whether reasoning goes back
 */
export function toMessages(messages: readonly ModelMessage[], claude: boolean): Message[] {
  const out: Message[] = [];
  const names = new Set<string>();
  for (const message of messages) {
    const role = message.role === "assistant" ? "assistant" : "user";
    const content = toContent(message, { claude, names });
    if (content.length === 0) continue;
    const last = out.at(-1);
    if (last?.role === role) last.content.push(...content);
    else out.push({ role, content });
  }
  return out;
}

function toContent(message: ModelMessage, { claude, names }: { claude: boolean; names: Set<string> }): JsonObject[] {
  switch (message.role) {
    case "user":
      return toUserContent(message.content, names);
    case "assistant":
      return toAnswer(message.content, claude);
    case "tool":
      return [
        {
          toolResult: {
            toolUseId: message.toolCallId,
            content: [{ text: message.text.trim() === "" ? "(empty)" : message.text }],
            status: message.isError ? "error" : "success",
          },
        },
      ];
  }
}

/** A document must have a text beside it. */
function toUserContent(parts: readonly UserPart[], names: Set<string>): JsonObject[] {
  const content = parts.flatMap((part) => toUserBlock(part, names));
  if (content.length === 0) return [{ text: "(empty)" }];
  return content.some((block) => "document" in block) && !content.some((block) => "text" in block)
    ? [...content, { text: "(a document without words)" }]
    : content;
}

function toUserBlock(part: UserPart, names: Set<string>): JsonObject[] {
  if (part.type === "text") return part.text.trim() === "" ? [] : [{ text: part.text }];
  const source = { bytes: new Uint8Array(Buffer.from(part.data, "base64")) };
  if (part.type === "file" && part.mimeType === "application/pdf")
    return [{ document: { format: "pdf", name: documentName(part.fileName, names), source } }];
  const format = imageFormats[part.mimeType];
  return format === undefined
    ? [{ text: `[a file of type ${part.mimeType}, which this model cannot read]` }]
    : [{ image: { format, source } }];
}

/** Letters, digits, single spaces, hyphens and brackets are all that the API takes in the name of a document, and each name once. */
function documentName(fileName: string | undefined, names: Set<string>): string {
  const clean = (fileName ?? "").replace(/[^A-Za-z0-9()[\]-]+/g, " ").trim();
  const base = (clean === "" ? "document" : clean).slice(0, MAX_NAME_CHARS);
  let name = base;
  for (let n = 2; names.has(name); n++) name = `${base} (${n})`;
  names.add(name);
  return name;
}

/** The vendor refuses an answer that ends with reasoning. */
function toAnswer(parts: readonly AssistantPart[], claude: boolean): JsonObject[] {
  const content = parts.flatMap((part) => toAnswerBlock(part, claude));
  return content.slice(0, content.findLastIndex((block) => !("reasoningContent" in block)) + 1);
}

/** Reasoning goes back to a Claude only with the signature that it came with; others take none. */
function toAnswerBlock(part: AssistantPart, claude: boolean): JsonObject[] {
  if (part.type === "text") return part.text.trim() === "" ? [] : [{ text: part.text }];
  if (part.type === "toolCall") return [{ toolUse: { toolUseId: part.id, name: part.name, input: toInput(part.args) } }];
  const { signature, redacted } = (part.meta?.bedrock ?? {}) as { signature?: string; redacted?: string };
  if (!claude) return [];
  if (redacted !== undefined) return [{ reasoningContent: { redactedContent: new Uint8Array(Buffer.from(redacted, "base64")) } }];
  return signature === undefined ? [] : [{ reasoningContent: { reasoningText: { text: part.text, signature } } }];
}

function toInput(args: unknown): unknown {
  if (args === undefined || args === null) return {};
  return typeof args === "object" && !Array.isArray(args) ? args : { malformed: args };
}
