import { createHash } from "node:crypto";
import { type Chunk, type ChunkingSettings, chunkSteps, runToEnd, splitLines } from "./chunker.ts";
import type { MediaContent } from "./documents.ts";
import { headingsOf, type Outline, readOutline, trailAt } from "./headings.ts";

/** A chunk with everything its rows hold. */
export interface Passage extends Chunk {
  /** Headings in force and inside, for the keyword index. */
  heading: string;
  /** Heading path at its first line, put before the text that is embedded. */
  trail: string;
}

export interface Passages {
  list: Passage[];
  /** Words of path and title, for the keyword index. */
  pathWords: string;
}

export interface PassageOptions {
  path: string;
  chunking: ChunkingSettings;
  lineNumbers?: readonly number[] | undefined;
  /** Longest text the provider takes, in bytes of UTF-8; undefined without one. */
  maxTextBytes?: number | undefined;
}

/** Share of a provider's input that a trail may take. */
const TRAIL_SHARE = 4;
const BETWEEN = "\n\n";
const STEP_CHUNKS = 16;

/** Cuts a document into passages, none longer than the provider takes. */
export function passagesOf(text: string, options: PassageOptions): Passages {
  return runToEnd(passageSteps(text, options));
}

/** The same in steps. */
export function* passageSteps(text: string, options: PassageOptions): Generator<void, Passages> {
  const lines = splitLines(text);
  const outline = readOutline(lines);
  yield;
  const list: Passage[] = [];
  for (const [index, chunk] of (yield* chunkSteps(lines, options.chunking)).entries()) {
    const heading = headingsOf(chunk, outline);
    const trail = trailOf(chunk, outline, options.maxTextBytes);
    const placed = { ...chunk, ...placeOf(chunk, options.lineNumbers), heading, trail };
    list.push(...splitPassage(placed, options.maxTextBytes));
    if (index % STEP_CHUNKS === STEP_CHUNKS - 1) yield;
  }
  return { list, pathWords: `${options.path.replace(/\.md$/i, "")} ${outline.title}` };
}

/** The one passage of an image or a sound. */
export function mediaPassage(media: MediaContent, { path, dataHash }: { path: string; dataHash: string }): Passages {
  const hash = sha256(JSON.stringify({ path, contentText: media.label, mimeType: media.mime, dataHash }));
  return { list: [{ startLine: 1, endLine: 1, text: media.label, hash, heading: "", trail: "" }], pathWords: path };
}

/** Text that is embedded for a passage, cut to `maxTextBytes`. */
export function embeddedText({ trail, text }: Pick<Passage, "trail" | "text">, maxTextBytes?: number): string {
  const whole = trail === "" ? text : `${trail}${BETWEEN}${text}`;
  return maxTextBytes === undefined ? whole : cutBytes(whole, maxTextBytes);
}

/** Names the embedded text in the cache. */
export function embeddedHash(text: string): string {
  return sha256(text);
}

/** The longest beginning of at most `maxBytes` bytes of UTF-8 that ends between two characters. */
export function cutBytes(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text;
  let bytes = 0;
  let end = 0;
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    if (bytes > maxBytes) break;
    end += character.length;
  }
  return text.slice(0, end);
}

function placeOf({ startLine, endLine }: Chunk, lineNumbers: readonly number[] | undefined): Pick<Chunk, "startLine" | "endLine"> {
  if (!lineNumbers) return { startLine, endLine };
  return { startLine: lineNumbers[startLine - 1] ?? startLine, endLine: lineNumbers[endLine - 1] ?? endLine };
}

function trailOf(chunk: Chunk, outline: Outline, maxTextBytes: number | undefined): string {
  const trail = trailAt(chunk.startLine, outline);
  return maxTextBytes === undefined ? trail : cutBytes(trail, Math.floor(maxTextBytes / TRAIL_SHARE));
}

/** Pieces keep the lines of the whole. */
function splitPassage(passage: Passage, maxTextBytes: number | undefined): Passage[] {
  if (maxTextBytes === undefined) return [passage];
  const trailBytes = passage.trail === "" ? 0 : Buffer.byteLength(passage.trail) + BETWEEN.length;
  const room = maxTextBytes - trailBytes;
  if (passage.text.length * 3 <= room || Buffer.byteLength(passage.text) <= room) return [passage];
  const pieces: Passage[] = [];
  for (let rest = passage.text; rest !== ""; ) {
    const text = cutBytes(rest, room) || ([...rest][0] ?? "");
    rest = rest.slice(text.length);
    if (text.trim() !== "") pieces.push({ ...passage, text, hash: sha256(text) });
  }
  return pieces;
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
