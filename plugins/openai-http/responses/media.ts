import { type FetchRules, fetchPublic, hostList, type SvcConfig } from "svc/sdk";
import { decodeImage, MAX_IMAGE_BYTES, MAX_IMAGES, MAX_TOTAL_BYTES } from "../images.ts";
import type { MediaPart } from "./content.ts";
import { readBase64, textOfFile } from "./files.ts";
import { framed } from "./framed.ts";
import { type PdfOptions, type ReadPart, readPdfPart } from "./pdf-part.ts";
import { toRefusal } from "./refusals.ts";

type Limits = SvcConfig["gateway"]["http"]["endpoints"]["responses"];

/** Pictures and files of a turn, ready for a run. */
export interface Media {
  attachments: ReadPart["attachments"];
  /** Framed texts of files, for the system prompt. */
  texts: string[];
}

export interface MediaOptions extends Omit<PdfOptions, "files"> {
  limits: Limits;
  /** Called with the reason of a refusal, for the log: of most the caller learns only that the request is invalid. */
  refused(reason: string): void;
  /** For tests, whose servers are of this machine. */
  fetch?: Pick<FetchRules, "isAllowed" | "lookup">;
}

/** Files in one request; their texts share one prompt. */
export const MAX_FILES = 20;
const IMAGE_FETCH_MS = 10_000;
const IMAGE_REDIRECTS = 3;
/**
 * Decodes and fetches the media of the current turn, one after the other.
 * @throws {SvcError} `v1-bad-request`; `busy` when too many PDF files wait
 */
export async function readMedia(parts: readonly MediaPart[], options: MediaOptions): Promise<Media> {
  const media: Media = { attachments: [], texts: [] };
  let path = "input";
  try {
    checkCounts(parts, options.limits);
    let total = 0;
    for (const part of parts) {
      path = part.path;
      const { text, attachments, bytes } = part.kind === "file" ? await readFilePart(part, options) : await readPicture(part, options);
      total += bytes;
      if (total > MAX_TOTAL_BYTES) throw new Error(`the pictures and PDF files are larger than ${MAX_TOTAL_BYTES} bytes together`);
      media.attachments.push(...attachments);
      if (text !== undefined) media.texts.push(text);
    }
    return media;
  } catch (error) {
    throw toRefusal(error, { path, invalid: "invalid request", refused: options.refused });
  }
}

function checkCounts(parts: readonly MediaPart[], { maxUrlParts }: Limits): void {
  const count = (of: (part: MediaPart) => boolean) => parts.filter(of).length;
  const urls = count(({ from }) => "url" in from);
  if (urls > maxUrlParts) throw new Error(`${urls} URLs; at most ${maxUrlParts}`);
  const images = count(({ kind }) => kind === "image");
  if (images > MAX_IMAGES) throw new Error(`${images} images; at most ${MAX_IMAGES}`);
  if (parts.length - images > MAX_FILES) throw new Error(`${parts.length - images} files; at most ${MAX_FILES}`);
}

async function readPicture({ from }: MediaPart, options: MediaOptions): Promise<ReadPart> {
  const { allowUrl, urlAllowlist } = options.limits.images;
  const rules = { allowUrl, urlAllowlist, maxBytes: MAX_IMAGE_BYTES, maxRedirects: IMAGE_REDIRECTS, timeoutMs: IMAGE_FETCH_MS };
  const { data, mime } = "url" in from ? await fetched(from.url, rules, options) : from;
  const picture = await decodeImage(`data:${mime ?? ""};base64,${typeof data === "string" ? data : data.toString("base64")}`);
  if (typeof picture === "string") throw new Error(picture);
  return { attachments: [{ type: "image", mimeType: picture.mimeType, data: picture.data }], bytes: picture.bytes };
}

/**
 * Reads one file of a request.
 * @throws {PublicRefusal} with a reason for the caller; other errors with one for the log
 */
export async function readFilePart({ from, filename }: MediaPart, options: MediaOptions): Promise<ReadPart> {
  const { files } = options.limits;
  const { allowUrl, urlAllowlist, maxBytes, maxRedirects, timeoutMs } = files;
  const rules = { allowUrl, urlAllowlist, maxBytes, maxRedirects, timeoutMs };
  const { data, mime } = "url" in from ? await fetched(from.url, rules, options) : from;
  const bytes = typeof data === "string" ? await readBase64(data, maxBytes) : data;
  const name = filename ?? ("url" in from ? nameInUrl(from.url) : undefined);
  const found = textOfFile({ bytes, mime, name }, files.allowedMimes);
  if (found === "pdf") return readPdfPart(bytes, name, { ...options, files });
  return { text: await framed(found.text, { maxChars: files.maxChars, name }), attachments: [], bytes: 0 };
}

interface UrlRules {
  allowUrl: boolean;
  urlAllowlist: readonly string[];
  maxBytes: number;
  maxRedirects: number;
  timeoutMs: number;
}

async function fetched(url: string, rules: UrlRules, options: MediaOptions): Promise<{ data: Buffer; mime: string | undefined }> {
  if (!rules.allowUrl) throw new Error("URLs are not fetched here");
  const { maxBytes, maxRedirects, timeoutMs, urlAllowlist } = rules;
  const { signal, fetch } = options;
  const isHostAllowed = (host: string) => isListed(host, urlAllowlist);
  const { content, mime } = await fetchPublic(url, { maxBytes, maxRedirects, timeoutMs, signal, isHostAllowed, ...fetch });
  const type = mime.split(";", 1)[0]?.trim().toLowerCase();
  return { data: content, mime: type === "" ? undefined : type };
}

/** Exact hosts, or `*.host` for those below it; an empty list stands for any. */
export function isListed(host: string, list: readonly string[]): boolean {
  return list.length === 0 || hostList(list)(host);
}

function nameInUrl(url: string): string | undefined {
  const last = URL.canParse(url) ? new URL(url).pathname.split("/").at(-1) : undefined;
  return last ? last : undefined;
}
