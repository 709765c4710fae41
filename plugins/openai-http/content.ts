import { badRequest } from "./errors.ts";
import { checkPartCount } from "./item-limit.ts";
import type { WireMessage } from "./request.ts";
import { type MediaPart, toSource } from "./responses/content.ts";

/** The content of one message: its text, the addresses of its images, its files and its recordings. */
export interface Content {
  text: string;
  images: string[];
  files: MediaPart[];
  audio: AudioPart[];
}

/** A recording as base64, not checked yet. */
export interface AudioPart {
  /** Place in the request. */
  path: string;
  mimeType: string;
  data: string;
}

export const invalidImage = "Invalid image_url content in `messages`.";
const audioTypes: Readonly<Record<string, string>> = { wav: "audio/wav", mp3: "audio/mpeg" };

/**
 * Reads `content`: a string, null, or parts.
 * @throws {SvcError} `v1-bad-request` for anything we would have to drop in silence
 */
export function readContent(message: WireMessage, path: string): Content {
  const { content } = message;
  const read: Content = { text: "", images: [], files: [], audio: [] };
  if (content == null) return read;
  if (typeof content === "string") return { ...read, text: content };
  if (!Array.isArray(content)) throw badRequest(`${path}.content: expected string or array, received ${typeof content}`);
  checkPartCount(content, `${path}.content`);
  const texts: string[] = [];
  for (const [i, part] of (content as unknown[]).entries()) {
    const at = `${path}.content.${i}`;
    const { type, ...fields } = asObject(part);
    if (type === "image_url") read.images.push(imageAddress(fields.image_url));
    else if (type === "file" || type === "input_audio") {
      if (message.role !== "user") throw badRequest(`${at}: ${type} parts are for user messages only`);
      if (type === "file") read.files.push(readFile(asObject(fields.file), `${at}.file`));
      else read.audio.push(readAudio(asObject(fields.input_audio), `${at}.input_audio`));
    } else {
      const text = type === "refusal" ? fields.refusal : isTextType(type) ? fields.text : undefined;
      if (typeof text !== "string") throw badRequest(`${at}: expected a part of type text, image_url, file or input_audio`);
      texts.push(text);
    }
  }
  return { ...read, text: texts.join("\n") };
}

/** @throws {SvcError} `v1-bad-request` */
function readFile({ file_data: data, file_id: id, filename }: Record<string, unknown>, path: string): MediaPart {
  if (id != null) throw badRequest(`${path}.file_id: files are not stored here; send file_data`);
  if (typeof data !== "string") throw badRequest(`${path}.file_data: expected a base64 data: URL`);
  return { kind: "file", path, from: toSource(data, true), ...(typeof filename === "string" ? { filename } : {}) };
}

/** @throws {SvcError} `v1-bad-request` */
function readAudio({ data, format }: Record<string, unknown>, path: string): AudioPart {
  const mimeType = typeof format === "string" && Object.hasOwn(audioTypes, format) ? audioTypes[format] : undefined;
  if (mimeType === undefined) throw badRequest(`${path}.format: expected ${Object.keys(audioTypes).join(" or ")}`);
  if (typeof data !== "string") throw badRequest(`${path}.data: expected base64`);
  return { path, mimeType, data };
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
