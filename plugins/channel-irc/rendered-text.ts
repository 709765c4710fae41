import type { MarkdownIR, RenderedText } from "svc/sdk";

type Span = MarkdownIR["spans"][number];

/** Codes that switch a style on, and off again; the end of a line switches all of them off. */
export const STYLES: Readonly<Partial<Record<Span["kind"], string>>> = {
  bold: "\u0002",
  heading: "\u0002",
  italic: "\u001d",
  strike: "\u001e",
};

/**
 * Text in the form of IRC: bold, italics and strike-through as codes, code between backticks, a link with its address behind it, a quotation with `>`
 * before each line. What the text itself held of control characters is gone: it could be a request to a client.
 */
export function renderText({ text, spans }: MarkdownIR): RenderedText {
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
    if (span.kind === "quote") for (const start of linesAfter(text, span)) at(start).before = `> ${at(start).before}`;
  }
  let rendered = "";
  let done = 0;
  for (const [offset, { before, after }] of [...marks].sort(([a], [b]) => a - b)) {
    rendered += clean(text.slice(done, offset)) + after + before;
    done = offset;
  }
  return { text: styledByLine(rendered + clean(text.slice(done))) };
}

function marksOf({ kind, href }: Span, shown: string): [string, string] {
  const style = STYLES[kind];
  if (style !== undefined) return [style, style];
  if (kind === "code") return ["`", "`"];
  if (kind === "link" && href !== undefined && href !== shown) return ["", ` (${clean(href.replaceAll("\n", ""))})`];
  if (kind === "quote") return ["> ", ""];
  return ["", ""];
}

/** Starts of the lines of a span after its first. */
function linesAfter(text: string, { start, end }: Span): number[] {
  const starts: number[] = [];
  for (let at = text.indexOf("\n", start); at >= 0 && at + 1 < end; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

function clean(text: string): string {
  return text.replace(/(?![\n\t])\p{Cc}/gu, "");
}

/** The styles that are on where a text ends. */
export function openStyles(text: string): string {
  const codes = new Set(Object.values(STYLES));
  const open = new Set<string>();
  for (const char of text) if (codes.has(char) && !open.delete(char)) open.add(char);
  return [...open].join("");
}

/** Each line is a message, so a style that goes on is switched on again. */
function styledByLine(text: string): string {
  let open = "";
  return text
    .split("\n")
    .map((line) => {
      const styled = line === "" ? "" : open + line;
      open = openStyles(open + line);
      return styled;
    })
    .join("\n");
}
