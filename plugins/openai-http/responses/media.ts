import { setImmediate as nextTurn } from "node:timers/promises";
import { frameExternal, messageOf, type RunRequest, type SvcConfig } from "svc/sdk";
import { type FetchRules, fetchPublic, toWellFormed } from "svc/sdk/internal";
import { badRequest } from "../errors.ts";
import { decodeImage, MAX_IMAGE_BYTES, MAX_IMAGES, MAX_TOTAL_BYTES } from "../images.ts";
import type { MediaPart } from "./content.ts";
import { readBase64, textOfFile } from "./files.ts";

type Limits = SvcConfig["gateway"]["http"]["endpoints"]["responses"];
type Picture = Extract<NonNullable<RunRequest["attachments"]>[number], { type: "image" }>;

/** Pictures and files of a turn, ready for a run. */
export interface Media {
  pictures: Picture[];
  /** Framed texts of files, for the system prompt. */
  texts: string[];
}

export interface MediaOptions {
  limits: Limits;
  signal: AbortSignal;
  /** Called with the reason of a refusal, for the log: the caller learns only that the request is invalid. */
  refused(reason: string): void;
  /** For tests, whose servers are of this machine. */
  fetch?: Pick<FetchRules, "isAllowed" | "lookup">;
}

/** Files in one request; their texts share one prompt. */
const MAX_FILES = 20;
const IMAGE_FETCH_MS = 10_000;
const IMAGE_REDIRECTS = 3;
/** Longest text that is framed in one step. */
const FRAME_CHARS = 100_000;

/** A refusal whose reason may go to the caller. */
class PublicRefusal extends Error {}

/**
 * Decodes and fetches the media of the current turn, one after the other.
 * @throws {SvcError} `v1-bad-request`
 */
export async function readMedia(parts: readonly MediaPart[], options: MediaOptions): Promise<Media> {
  const media: Media = { pictures: [], texts: [] };
  let path = "input";
  try {
    checkCounts(parts, options.limits);
    let imageBytes = 0;
    for (const part of parts) {
      path = part.path;
      if (part.kind === "file") media.texts.push(await readFile(part, options));
      else {
        const { bytes, ...picture } = await readPicture(part, options);
        imageBytes += bytes;
        if (imageBytes > MAX_TOTAL_BYTES) throw new Error(`the images are larger than ${MAX_TOTAL_BYTES} bytes together`);
        media.pictures.push({ type: "image", ...picture });
      }
    }
    return media;
  } catch (error) {
    options.refused(`${path}: ${messageOf(error)}`);
    throw badRequest(error instanceof PublicRefusal ? `${path}: ${error.message}` : "invalid request");
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

async function readPicture({ from }: MediaPart, options: MediaOptions): Promise<{ mimeType: string; data: string; bytes: number }> {
  const { allowUrl, urlAllowlist } = options.limits.images;
  const rules = { allowUrl, urlAllowlist, maxBytes: MAX_IMAGE_BYTES, maxRedirects: IMAGE_REDIRECTS, timeoutMs: IMAGE_FETCH_MS };
  const { data, mime } = "url" in from ? await fetched(from.url, rules, options) : from;
  const picture = await decodeImage(`data:${mime ?? ""};base64,${typeof data === "string" ? data : data.toString("base64")}`);
  if (typeof picture === "string") throw new Error(picture);
  return picture;
}

async function readFile({ from, filename }: MediaPart, options: MediaOptions): Promise<string> {
  const { allowUrl, urlAllowlist, allowedMimes, maxBytes, maxChars, maxRedirects, timeoutMs } = options.limits.files;
  const rules = { allowUrl, urlAllowlist, maxBytes, maxRedirects, timeoutMs };
  const { data, mime } = "url" in from ? await fetched(from.url, rules, options) : from;
  const bytes = typeof data === "string" ? await readBase64(data, maxBytes) : data;
  const name = filename ?? ("url" in from ? nameInUrl(from.url) : undefined);
  const found = textOfFile({ bytes, mime, name }, allowedMimes);
  if ("unserved" in found) throw new PublicRefusal(found.unserved);
  return framed(found.text, { maxChars, name });
}

/** The text between markers that nobody can forge; a long one in parts, each in a step of its own. */
async function framed(text: string, { maxChars, name }: { maxChars: number; name: string | undefined }): Promise<string> {
  const cut =
    text.length > maxChars ? `${toWellFormed(text.slice(0, maxChars))}\n[… ${text.length - maxChars} characters left out …]` : text;
  const frames: string[] = [];
  for (let at = 0; at === 0 || at < cut.length; at += FRAME_CHARS) {
    if (at > 0) await nextTurn();
    const piece = toWellFormed(cut.slice(at, at + FRAME_CHARS));
    frames.push(frameExternal(piece, { source: "File", ...(name === undefined ? {} : { subject: name }) }));
  }
  return frames.join("\n");
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
  const name = host.toLowerCase();
  return (
    list.length === 0 ||
    list.map((entry) => entry.toLowerCase()).some((entry) => (entry.startsWith("*.") ? name.endsWith(entry.slice(1)) : name === entry))
  );
}

function nameInUrl(url: string): string | undefined {
  const last = URL.canParse(url) ? new URL(url).pathname.split("/").at(-1) : undefined;
  return last ? last : undefined;
}
