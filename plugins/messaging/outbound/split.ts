import type { Channel, MarkdownIR } from "svc/sdk";
import type { Span } from "./inline.ts";
import { sliceIr } from "./ir.ts";

export interface SplitRules extends Pick<Channel["text"], "unit" | "render"> {
  /** Largest rendered piece, in `unit`; unset: no text is split. */
  limit: number | undefined;
  /** `newline`: at an empty line wherever there is one, `length`: where the piece is well filled. */
  mode: "length" | "newline";
  maxPieces: number;
}

/** Tries to fit one piece; each makes it smaller. */
const MAX_TRIES = 60;
const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/** `leftOut`: characters of the text behind the last piece that is allowed. */
export interface SplitText {
  pieces: MarkdownIR[];
  leftOut: number;
}

/**
 * Splits a text into pieces that are within the limit once they are rendered: at an empty line, the end of a line, of a sentence, at a blank, and only then between
 * two characters as people see them. A link or a piece of code stays whole if it fits; other spans go on in the next piece, a fence with its language.
 */
export function splitIr(whole: MarkdownIR, rules: SplitRules): SplitText {
  const { limit } = rules;
  if (limit === undefined) return { pieces: [whole], leftOut: 0 };
  let ir = whole;
  const pieces: MarkdownIR[] = [];
  for (let start = nextStart(ir, 0); start < ir.text.length; ) {
    if (pieces.length === rules.maxPieces) return { pieces, leftOut: ir.text.length - start };
    const fit = fitPiece(ir, start, { ...rules, limit });
    if ("plain" in fit) {
      ir = fit.plain;
      continue;
    }
    const piece = sliceIr(ir, start, trimmedEnd(ir, start, fit.end));
    if (piece.text.trim() !== "") pieces.push(piece);
    start = nextStart(ir, fit.end);
  }
  return { pieces, leftOut: 0 };
}

/** Size of a text in the unit of a channel. */
export function sizeOf(text: string, unit: SplitRules["unit"]): number {
  if (unit === "bytes") return Buffer.byteLength(text);
  if (unit === "utf16") return text.length;
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** End of the piece that begins at `start`, or the text with a link written out that does not fit into any piece. */
function fitPiece(ir: MarkdownIR, start: number, rules: SplitRules & { limit: number }): { end: number } | { plain: MarkdownIR } {
  const { limit, unit, render } = rules;
  const least = graphemeEnd(ir.text, start);
  let reach = Math.max(least, reachOf(ir.text, start, { limit, unit }));
  for (let left = MAX_TRIES; left > 0; left--) {
    const end = reach === ir.text.length ? reach : breakBefore(ir, start, { reach, mode: rules.mode });
    const link = ir.spans.find((span) => span.href !== undefined && span.start < end && span.end > end);
    if (link) return { plain: withLinkWrittenOut(ir, link) };
    const size = sizeOf(render(sliceIr(ir, start, trimmedEnd(ir, start, end))).text, unit);
    if (size <= limit) return { end };
    if (end <= least) return unfit(ir, start, end);
    // Half of the way to what would be in proportion: the marks of a span that falls away make room, too.
    const share = Math.floor(((end - start) * (size + limit)) / (2 * size));
    reach = Math.max(least, Math.min(end - 1, start + share));
  }
  return { end: least };
}

/** Not even one character fits with its styles: a link gives way first. What is still too long then is for the channel to refuse. */
function unfit(ir: MarkdownIR, start: number, end: number): { end: number } | { plain: MarkdownIR } {
  const link = ir.spans.find((span) => span.href !== undefined && span.start < end && span.end > start);
  return link ? { plain: withLinkWrittenOut(ir, link) } : { end };
}

/** Farthest end of a piece whose plain text is within the limit. */
function reachOf(text: string, start: number, { limit, unit }: { limit: number; unit: SplitRules["unit"] }): number {
  if (unit === "utf16") return Math.min(text.length, start + limit);
  let at = start;
  for (let left = limit; at < text.length; ) {
    const char = String.fromCodePoint(text.codePointAt(at) as number);
    left -= unit === "bytes" ? Buffer.byteLength(char) : 1;
    if (left < 0) break;
    at += char.length;
  }
  return at;
}

/** Best place to end a piece that may reach so far. */
function breakBefore(ir: MarkdownIR, start: number, { reach, mode }: { reach: number; mode: SplitRules["mode"] }): number {
  const filled = start + Math.floor((reach - start) / 2);
  const whole = wholeSpans(ir, start, reach);
  const { paragraph, line, sentence, blank } = breaksIn(ir, { start, reach, whole });
  if (paragraph !== undefined && (mode === "newline" || paragraph > filled)) return paragraph;
  for (const end of [line, sentence, blank]) if (end !== undefined && end > filled) return end;
  const any = [paragraph, line, sentence, blank].filter((end) => end !== undefined);
  if (any.length > 0) return Math.max(...any);
  const early = whole.find((span) => span.start > start && span.start < reach && span.end > reach);
  if (early) return early.start;
  // A piece of code that fills more than a piece is cut like other text.
  const inCode = Object.values(breaksIn(ir, { start, reach, whole: [] }));
  return inCode.length > 0 ? Math.max(...inCode) : hardEnd(ir.text, start, reach);
}

type Level = "paragraph" | "line" | "sentence" | "blank";

interface Interval {
  start: number;
  end: number;
}

/** The last break of each level in a window, outside what is to stay whole. */
function breaksIn(
  ir: MarkdownIR,
  { start, reach, whole }: { start: number; reach: number; whole: readonly Interval[] },
): Partial<Record<Level, number>> {
  const best: Partial<Record<Level, number>> = {};
  let last = whole.length - 1;
  for (let at = reach; at > start && best.paragraph === undefined; at--) {
    while (last >= 0 && (whole[last] as Interval).start >= at) last -= 1;
    const level = levelAt(ir.text, at);
    if (level === undefined || at < (whole[last]?.end ?? 0)) continue;
    best[level === "paragraph" && isInFence(ir, at) ? "line" : level] ??= at;
  }
  return best;
}

/** Kind of the place before this character; undefined inside a word. */
function levelAt(text: string, at: number): Level | undefined {
  const next = text[at];
  const last = text[at - 1] as string;
  if (next === "\n") return text[at + 1] === "\n" ? "paragraph" : "line";
  if (/[。！？]/.test(last)) return "sentence";
  if (next === undefined || !/\s/.test(next) || /\s/.test(last)) return undefined;
  return /[.!?…]/.test(last) ? "sentence" : "blank";
}

/** Parts of the window that are cut only when they do not fit into a piece of their own, in order and apart from each other. */
function wholeSpans({ spans }: MarkdownIR, start: number, reach: number): Interval[] {
  const found: Interval[] = [];
  for (const { kind, start: from, end } of spans) {
    if (from >= reach) break;
    if ((kind !== "link" && kind !== "code") || end <= start || from < start) continue;
    const before = found.at(-1);
    if (before && from < before.end) before.end = Math.max(before.end, end);
    else found.push({ start: from, end });
  }
  return found;
}

/** The last place between two characters as people see them. */
function hardEnd(text: string, start: number, reach: number): number {
  const found = graphemes.segment(text.slice(start, reach + 64)).containing(reach - start)?.index ?? reach - start;
  if (found > 0) return start + found;
  // One character that is larger than a piece: not between the halves of a code point at least.
  return reach - start > 1 && isLowSurrogate(text, reach) ? reach - 1 : reach;
}

function graphemeEnd(text: string, start: number): number {
  const first = graphemes.segment(text.slice(start, start + 64)).containing(0)?.segment.length ?? 1;
  return start + first;
}

function isLowSurrogate(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff;
}

/** Begins the next piece behind what separates the two: empty lines or the blanks at the cut; in a fence one line break. */
function nextStart(ir: MarkdownIR, at: number): number {
  const { text } = ir;
  if (isInFence(ir, at)) return text[at] === "\n" ? at + 1 : at;
  let start = at;
  for (let end = at; end < text.length && /\s/.test(text[end] as string); end++) if (text[end] === "\n") start = end + 1;
  if (start === at && at > 0) while (text[start] === " " || text[start] === "\t") start += 1;
  return start;
}

/** A piece does not end with blanks, unless they are code. */
function trimmedEnd(ir: MarkdownIR, start: number, end: number): number {
  if (isInFence(ir, end)) return end;
  let at = end;
  while (at > start && /\s/.test(ir.text[at - 1] as string)) at -= 1;
  return at === start ? end : at;
}

function isInFence({ spans }: MarkdownIR, at: number): boolean {
  return spans.some((span) => span.kind === "codeBlock" && span.start < at && at < span.end);
}

/** The same text with the address of one link behind it, as text. */
function withLinkWrittenOut({ text, spans }: MarkdownIR, link: Span): MarkdownIR {
  const shown = text.slice(link.start, link.end);
  const added = link.href === undefined || link.href === shown ? "" : ` (${link.href})`;
  const moved = (offset: number) => (offset > link.end ? offset + added.length : offset);
  return {
    text: text.slice(0, link.end) + added + text.slice(link.end),
    spans: spans.flatMap((span) => {
      if (span === link) return [];
      // A span that ends with the link ends before its address; one that begins behind it begins behind both.
      const start = span.start >= link.end ? span.start + added.length : span.start;
      return [{ ...span, start, end: moved(span.end) }];
    }),
  };
}
