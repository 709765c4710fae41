import { limits, type ToolContent, type ToolResult } from "svc/sdk";
import { cutMiddle } from "../common/cut.ts";
import { imageTypes } from "../runs/media-types.ts";

/** Pictures of one result that are passed on. */
const MAX_IMAGES = 8;
const MAX_TYPE_CHARS = 60;
const CHECKED_CHARS = 4_096;
const base64 = /^[A-Za-z0-9+/]*={0,2}$/;

export function isToolResult(value: unknown): value is ToolResult {
  if (typeof value !== "object" || value === null || !("content" in value) || !Array.isArray(value.content)) return false;
  return value.content.every(isContent);
}

function isContent(part: unknown): part is ToolContent {
  if (typeof part !== "object" || part === null || !("type" in part)) return false;
  if (part.type === "text") return "text" in part && typeof part.text === "string";
  return (
    part.type === "image" && "mimeType" in part && typeof part.mimeType === "string" && "data" in part && typeof part.data === "string"
  );
}

/** Content of a result within its limits: longer texts cut, a note in the place of a picture that no model would take. */
export function acceptedContent(content: readonly ToolContent[], maxChars: number): ToolContent[] {
  let left = MAX_IMAGES;
  return content.map((part) => {
    if (part.type === "text") return { type: "text", text: cutMiddle(part.text, maxChars) };
    const fault = left > 0 ? imageFault(part) : `more than ${MAX_IMAGES} pictures`;
    if (fault !== undefined) return { type: "text", text: `[image left out: ${fault}]` };
    left -= 1;
    return { type: "image", mimeType: part.mimeType, data: part.data };
  });
}

function imageFault({ mimeType, data }: Extract<ToolContent, { type: "image" }>): string | undefined {
  if (!imageTypes.includes(mimeType)) return `type ${mimeType.slice(0, MAX_TYPE_CHARS)}`;
  if ((data.length * 3) / 4 > limits.imageMaxBytes) return `larger than ${limits.imageMaxBytes} bytes`;
  // A look at both ends: what a tool sends has megabytes.
  const isPlain = base64.test(data.slice(0, CHECKED_CHARS)) && base64.test(data.slice(-4));
  return data === "" || !isPlain ? "its data are not base64" : undefined;
}

/** Texts of a result, for where pictures have no place. */
export function textsOf(content: readonly ToolContent[]): string[] {
  return content.map((part) => (part.type === "text" ? part.text : "[image]"));
}
