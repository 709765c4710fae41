import { badRequest } from "./errors.ts";
import type { WireMessage } from "./request.ts";

/** The content of one message: its text, and the addresses of its images. */
export interface Content {
  text: string;
  images: string[];
}

export const invalidImage = "Invalid image_url content in `messages`.";

/** Parts of the vendor's API that this one has no use for, by type. */
const refusedParts: Readonly<Record<string, string>> = {
  file: "file parts (PDF and others) are not supported here; send the text of the file as a text part",
  input_audio: "input_audio parts are not supported here; send a transcript as a text part",
};

/**
 * Reads `content`: a string, null, or parts.
 * @throws {SvcError} `v1-bad-request` for anything we would have to drop in silence
 */
export function readContent(message: WireMessage, path: string): Content {
  const { content } = message;
  if (content == null) return { text: "", images: [] };
  if (typeof content === "string") return { text: content, images: [] };
  if (!Array.isArray(content)) throw badRequest(`${path}.content: expected string or array, received ${typeof content}`);
  const texts: string[] = [];
  const images: string[] = [];
  for (const [i, part] of (content as unknown[]).entries()) {
    const { type, ...fields } = asObject(part);
    if (type === "image_url") images.push(imageAddress(fields.image_url));
    else {
      if (typeof type === "string" && Object.hasOwn(refusedParts, type)) throw badRequest(`${path}.content.${i}: ${refusedParts[type]}`);
      const text = type === "refusal" ? fields.refusal : isTextType(type) ? fields.text : undefined;
      if (typeof text !== "string") throw badRequest(`${path}.content.${i}: expected a text or image_url part`);
      texts.push(text);
    }
  }
  return { text: texts.join("\n"), images };
}

function isTextType(type: unknown): boolean {
  return type === "text" || type === "input_text" || type === "output_text";
}

function imageAddress(value: unknown): string {
  const url = typeof value === "string" ? value : asObject(value).url;
  if (typeof url !== "string") throw badRequest(invalidImage);
  return url;
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
