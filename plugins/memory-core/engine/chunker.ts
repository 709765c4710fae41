import { createHash } from "node:crypto";

/** Changes whenever the same file would be cut differently; part of the index identity. */
export const CHUNKER_VERSION = 2;

export interface ChunkingSettings {
  /** Estimated tokens of a chunk, at least 1. */
  tokens: number;
  /** Estimated tokens two neighbours share. */
  overlap: number;
}

/** A passage of a file; lines are 1-based and inclusive, `text` has `\n` line ends only. */
export interface Chunk {
  startLine: number;
  endLine: number;
  text: string;
  /** sha256 of `text`, hex. */
  hash: string;
}

interface Segment {
  line: number;
  text: string;
  cost: number;
}

const CHARS_PER_TOKEN = 4;
const MIN_CHUNK_CHARS = 32;
const STEP_SEGMENTS = 1_000;
const wideScripts = /[\u2e80-\u9fff\ua000-\ua4ff\uac00-\ud7af\uf900-\ufaff\u{20000}-\u{2fa1f}]/gu;
const ideographPair = /[\u{20000}-\u{2fa1f}]/gu;

/** Length in "characters of which four make a token"; a character of a CJK-like script counts as a whole token. */
export function estimateChars(text: string): number {
  const wide = text.match(wideScripts)?.length ?? 0;
  if (wide === 0) return text.length;
  const pairs = text.match(ideographPair)?.length ?? 0;
  return text.length - pairs + 3 * wide;
}

/** The lines of a file as this plugin counts them: any line end counts, the end of the last line opens no new one. */
export function splitLines(text: string): string[] {
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** Cuts the lines of a Markdown file into overlapping chunks; blank ones are left out. */
export function chunkLines(lines: readonly string[], settings: ChunkingSettings): Chunk[] {
  return runToEnd(chunkSteps(lines, settings));
}

/** The same in steps: a file of many megabytes takes a while. */
export function* chunkSteps(lines: readonly string[], settings: ChunkingSettings): Generator<void, Chunk[]> {
  const maxChars = Math.max(MIN_CHUNK_CHARS, settings.tokens * CHARS_PER_TOKEN);
  const overlapChars = Math.min(settings.overlap, settings.tokens - 1) * CHARS_PER_TOKEN;
  const chunks: Chunk[] = [];
  let buffer: Segment[] = [];
  let size = 0;
  let segments = 0;
  for (const segment of segmentsOf(lines, maxChars, settings.tokens)) {
    if (buffer.length > 0 && size + segment.cost > maxChars) {
      emit(chunks, buffer);
      buffer = tail(buffer, overlapChars);
      size = buffer.reduce((sum, s) => sum + s.cost, 0);
    }
    buffer.push(segment);
    size += segment.cost;
    if (++segments % STEP_SEGMENTS === 0) yield;
  }
  emit(chunks, buffer);
  return chunks;
}

/** Runs a step-wise computation to its result without a pause. */
export function runToEnd<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

function* segmentsOf(lines: readonly string[], maxChars: number, tokens: number): Generator<Segment> {
  for (const [index, line] of lines.entries()) {
    for (const text of cutLine(line, maxChars, tokens)) yield { line: index + 1, text, cost: estimateChars(text) + 1 };
  }
}

function cutLine(line: string, maxChars: number, tokens: number): string[] {
  if (line.length <= maxChars) return [line];
  const pieces: string[] = [];
  for (let from = 0; from < line.length; ) {
    const to = wholePairs(line, Math.min(from + maxChars, line.length));
    const piece = line.slice(from, to);
    if (estimateChars(piece) > maxChars) pieces.push(...cutCharacters(piece, tokens));
    else pieces.push(piece);
    from = to;
  }
  return pieces;
}

/** Moves a cut out of the middle of a surrogate pair. */
function wholePairs(text: string, at: number): number {
  const before = text.charCodeAt(at - 1);
  return at < text.length && before >= 0xd800 && before <= 0xdbff ? at - 1 : at;
}

function cutCharacters(text: string, count: number): string[] {
  const characters = [...text];
  const pieces: string[] = [];
  for (let from = 0; from < characters.length; from += count) pieces.push(characters.slice(from, from + count).join(""));
  return pieces;
}

/** Whole segments from the end until their cost reaches the overlap. */
function tail(buffer: Segment[], overlapChars: number): Segment[] {
  let from = buffer.length;
  for (let cost = 0; from > 0 && cost < overlapChars; from--) cost += buffer[from - 1]?.cost ?? 0;
  return buffer.slice(from);
}

function emit(chunks: Chunk[], buffer: Segment[]): void {
  const first = buffer[0];
  const last = buffer.at(-1);
  if (!first || !last) return;
  const text = joinSegments(buffer);
  if (text.trim() === "") return;
  chunks.push({ startLine: first.line, endLine: last.line, text, hash: createHash("sha256").update(text).digest("hex") });
}

/** Pieces of one line are put together again without a line end. */
function joinSegments(buffer: readonly Segment[]): string {
  let text = "";
  let line: number | undefined;
  for (const segment of buffer) {
    text += line === undefined || segment.line === line ? segment.text : `\n${segment.text}`;
    line = segment.line;
  }
  return text;
}
