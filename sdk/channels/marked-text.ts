import type { MarkdownIR } from "../types/channel.ts";

type Span = MarkdownIR["spans"][number];

/** How a platform marks text. */
export interface MarkedTextOptions {
  /** Returns the marks before and behind a span; those before a quotation stand before each of its lines. @param shown text of the span */
  marksOf(span: Span, shown: string): readonly [before: string, after: string];
  /** Cleans the text between the marks. Default: as it is. */
  clean?(text: string): string;
}

/** Renders a text for a platform that marks styles by characters around them. Spans stand one inside the other or apart; the work grows with their number and the text. */
export function markedText({ text, spans }: MarkdownIR, { marksOf, clean = (part) => part }: MarkedTextOptions): string {
  const marks = new Map<number, { before: string; after: string }>();
  const at = (offset: number) => {
    const known = marks.get(offset) ?? { before: "", after: "" };
    marks.set(offset, known);
    return known;
  };
  for (const span of spans) {
    const [open, close] = marksOf(span, text.slice(span.start, span.end));
    at(span.start).before += open;
    const end = at(span.end);
    end.after = close + end.after;
    if (span.kind === "quote") for (const start of linesAfter(text, span)) at(start).before += open;
  }
  let rendered = "";
  let done = 0;
  for (const [offset, { before, after }] of [...marks].sort(([a], [b]) => a - b)) {
    rendered += clean(text.slice(done, offset)) + after + before;
    done = offset;
  }
  return rendered + clean(text.slice(done));
}

/** Starts of the lines of a span after its first. */
function linesAfter(text: string, { start, end }: Span): number[] {
  const starts: number[] = [];
  for (let at = text.indexOf("\n", start); at >= 0 && at + 1 < end; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}
