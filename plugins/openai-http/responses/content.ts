import { isRecord } from "svc/sdk";
import { badRequest } from "../errors.ts";
import { checkPartCount } from "../item-limit.ts";

/** A picture or a file of a message, not read yet. */
export interface MediaPart {
  kind: "image" | "file";
  /** Place in the request, for messages and the log. */
  path: string;
  from: { url: string } | { data: string; mime: string | undefined };
  filename?: string;
}

/** The content of one item: its texts, and its media in order. */
export interface ItemContent {
  text: string;
  media: MediaPart[];
}

const textTypes = new Set(["input_text", "output_text", "text", "summary_text"]);

/**
 * Reads `content` or `output`: a string, or parts.
 * @throws {SvcError} `v1-bad-request` for anything that would have to be dropped in silence
 */
export function readItemContent(content: unknown, path: string): ItemContent {
  if (typeof content === "string") return { text: content, media: [] };
  if (!Array.isArray(content))
    throw badRequest(`${path}: expected string or array, received ${content === null ? "null" : typeof content}`);
  checkPartCount(content, path);
  const texts: string[] = [];
  const media: MediaPart[] = [];
  for (const [i, part] of (content as unknown[]).entries()) {
    const at = `${path}.${i}`;
    if (!isRecord(part)) throw badRequest(`${at}: expected object`);
    if (part.type === "input_image") media.push(readImage(part, at));
    else if (part.type === "input_file") media.push(readFile(part, at));
    else {
      const text = part.type === "refusal" ? part.refusal : textTypes.has(String(part.type)) ? part.text : undefined;
      if (typeof text !== "string")
        throw badRequest(`${at}: expected a part of type input_text, output_text, refusal, input_image or input_file`);
      texts.push(text);
    }
  }
  return { text: texts.join("\n"), media };
}

type Fields = Record<string, unknown>;

/** @throws {SvcError} `v1-bad-request` */
function readImage(part: Fields, path: string): MediaPart {
  refuseStoredFile(part, path);
  const from = typeof part.image_url === "string" ? toSource(part.image_url) : readSource(part.source, path);
  if (!from) throw badRequest(`${path}: expected image_url or source`);
  return { kind: "image", path, from };
}

/** @throws {SvcError} `v1-bad-request` */
function readFile(part: Fields, path: string): MediaPart {
  refuseStoredFile(part, path);
  const { filename, file_data: data, file_url: url, source } = part;
  const from = typeof data === "string" ? toSource(data, true) : typeof url === "string" ? { url } : readSource(source, path);
  if (!from) throw badRequest(`${path}: expected file_data, file_url or source`);
  const named =
    typeof filename === "string" ? filename : isRecord(source) && typeof source.filename === "string" ? source.filename : undefined;
  return { kind: "file", path, from, ...(named === undefined ? {} : { filename: named }) };
}

function refuseStoredFile(part: Fields, path: string): void {
  if (part.file_id != null) throw badRequest(`${path}.file_id: files are not stored here; send the data or a URL`);
}

/** The older form: `{type: "url", url}` or `{type: "base64", media_type, data}`. */
function readSource(source: unknown, path: string): MediaPart["from"] | undefined {
  if (source == null) return undefined;
  const { type, url, media_type: mime, data } = isRecord(source) ? source : {};
  if (type === "url" && typeof url === "string") return { url };
  if (type === "base64" && typeof data === "string") return { data, mime: typeof mime === "string" ? mime.toLowerCase() : undefined };
  throw badRequest(`${path}.source: expected {type: "url", url} or {type: "base64", media_type, data}`);
}

const MAX_PREFIX_CHARS = 200;
const dataPrefix = /^data:([a-z0-9.+-]+\/[a-z0-9.+-]+)?(?:;[^,;]*)*;base64$/i;

/** A `data:` address is taken apart; any other text is a URL, or base64 where that is allowed. */
export function toSource(text: string, mayBeBare = false): MediaPart["from"] {
  if (!/^data:/i.test(text)) return mayBeBare ? { data: text, mime: undefined } : { url: text };
  const comma = text.indexOf(",");
  const prefix = comma < 0 || comma > MAX_PREFIX_CHARS ? null : dataPrefix.exec(text.slice(0, comma));
  // Anything else stays as it is, and is refused as data.
  return prefix ? { data: text.slice(comma + 1), mime: prefix[1]?.toLowerCase() } : { data: text, mime: undefined };
}
