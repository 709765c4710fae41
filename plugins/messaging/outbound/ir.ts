import type { MarkdownIR } from "svc/sdk";
import type { Span } from "./inline.ts";

/** Most spans of one message; the text behind them has no styles, and its links stand in the text. */
const MAX_SPANS = 5_000;

/** Collects text and the spans over it. */
export class IrWriter {
  readonly #parts: string[] = [];
  readonly #spans: Span[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  write(text: string): void {
    this.#parts.push(text);
    this.#length += text.length;
  }

  /** Adds a text with spans of its own. */
  add({ text, spans }: MarkdownIR): void {
    if (this.#spans.length + spans.length > MAX_SPANS) return this.write(withoutSpans({ text, spans }));
    for (const span of spans) this.#spans.push({ ...span, start: span.start + this.#length, end: span.end + this.#length });
    this.write(text);
  }

  /** Lays a span from `start` to the end of what was written. */
  cover(kind: Span["kind"], start: number, more: Pick<Span, "language"> = {}): void {
    if (this.#length > start && this.#spans.length < MAX_SPANS) this.#spans.push({ kind, start, end: this.#length, ...more });
  }

  /** Outer spans stand before those inside them. */
  result(): MarkdownIR {
    const spans = this.#spans.map((span, i) => ({ span, i }));
    // Spans are added when they end, so of two over the same text the later one is the outer one.
    spans.sort((a, b) => a.span.start - b.span.start || b.span.end - a.span.end || order(b.span) - order(a.span) || a.i - b.i);
    return { text: this.#parts.join(""), spans: spans.map(({ span }) => span) };
  }
}

/** Blocks stand around what is inside a line. */
function order({ kind }: Span): number {
  return kind === "quote" ? 2 : kind === "heading" || kind === "codeBlock" ? 1 : 0;
}

/** The text alone, with the addresses of its links behind them. */
export function withoutSpans({ text, spans }: MarkdownIR): string {
  let plain = "";
  let done = 0;
  for (const { end, href, start } of spans.filter(({ kind }) => kind === "link").sort((a, b) => a.end - b.end)) {
    if (href === undefined || href === text.slice(start, end)) continue;
    plain += `${text.slice(done, end)} (${href})`;
    done = end;
  }
  return plain + text.slice(done);
}

/** Part of a text with the spans in it; a span that goes over its ends goes on in the parts beside it. */
export function sliceIr({ text, spans }: MarkdownIR, start: number, end: number): MarkdownIR {
  const inside: Span[] = [];
  for (const span of spans) {
    if (span.start >= end) break;
    const from = Math.max(span.start, start) - start;
    const to = Math.min(span.end, end) - start;
    if (to > from) inside.push({ ...span, start: from, end: to });
  }
  return { text: text.slice(start, end), spans: inside };
}
