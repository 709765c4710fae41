import { createHash } from "node:crypto";
import type { PromptMessage } from "svc/sdk/internal";

type UserPart = Extract<PromptMessage, { role: "user" }>["content"][number];

/** Files that the vendor reads; it refuses the whole request for any other. */
const readable = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf", "text/plain"]);
const plainId = /^[A-Za-z0-9_-]+$/;

/**
 * A message without what the vendor refuses: empty texts, files that it does not read, reasoning that nothing follows, arguments that are no object, and
 * ids of calls as other vendors write them. Pure.
 */
export function toAcceptable(message: PromptMessage): PromptMessage {
  switch (message.role) {
    case "system":
      return message;
    case "user": {
      const content = message.content.filter((part) => part.type !== "text" || part.text !== "").map(toReadable);
      return { ...message, content: content.length === 0 ? [{ type: "text", text: "(empty)" }] : content };
    }
    case "assistant": {
      const end = message.content.findLastIndex(({ type }) => type !== "reasoning") + 1;
      const content = message.content.slice(0, end).map((part) => {
        if (part.type !== "tool-call") return part;
        return { ...part, toolCallId: toPlainId(part.toolCallId), input: isObject(part.input) ? part.input : { malformed: part.input } };
      });
      return { ...message, content };
    }
    case "tool":
      return { ...message, content: message.content.map((part) => ({ ...part, toolCallId: toPlainId(part.toolCallId) })) };
  }
}

function toReadable(part: UserPart): UserPart {
  if (part.type === "text" || readable.has(part.mediaType)) return part;
  return { type: "text", text: `[file ${part.filename ?? part.mediaType}, which this model cannot read]` };
}

/** The same for the same id, in call and result, and another for another. */
function toPlainId(id: string): string {
  return plainId.test(id) ? id : `call_${createHash("sha256").update(id).digest("hex").slice(0, 32)}`;
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
