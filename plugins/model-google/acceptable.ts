import type { PromptMessage } from "svc/sdk/internal";

type UserPart = Extract<PromptMessage, { role: "user" }>["content"][number];
type Result = Extract<PromptMessage, { role: "tool" }>["content"][number];

/** Files that the vendor reads; it refuses the whole request for any other, as for a GIF. */
const readable = /^(?:image\/(?:png|jpeg|webp|heic|heif)|application\/pdf|(?:audio|video|text)\/[\w.+-]{1,64})$/;

/**
 * A copy without empty texts and files that the vendor refuses, with arguments that are objects, and with failures of tools that look like some: on the wire
 * they would look like successes. Pure.
 */
export function toAcceptable(message: PromptMessage): PromptMessage {
  switch (message.role) {
    case "user": {
      const content = message.content.filter((part) => part.type !== "text" || part.text !== "").map(toReadable);
      return { ...message, content: content.length === 0 ? [{ type: "text", text: "(empty)" }] : content };
    }
    case "assistant":
      return {
        ...message,
        content: message.content.map((part) =>
          part.type === "tool-call" && !isObject(part.input) ? { ...part, input: { malformed: part.input } } : part,
        ),
      };
    case "tool":
      return { ...message, content: message.content.map(toResult) };
    default:
      return message;
  }
}

function toReadable(part: UserPart): UserPart {
  if (part.type === "text" || readable.test(part.mediaType)) return part;
  return { type: "text", text: `[file ${part.filename ?? part.mediaType}, which this model cannot read]` };
}

function toResult(result: Result): Result {
  const { output } = result;
  return output.type === "error-text" ? { ...result, output: { type: "text", value: `Error: ${output.value}` } } : result;
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
