import type { MarkdownIR, RenderedText } from "svc/sdk";

type Span = MarkdownIR["spans"][number];

/** Marks of message styling (XEP-0393), the same before and behind. */
const STYLES: Readonly<Partial<Record<Span["kind"], string>>> = { bold: "*", heading: "*", italic: "_", strike: "~", code: "`" };

interface Marks {
  before: string;
  after: string;
}

/** Text with the marks of message styling: readable as it is, and shown as styles by clients that know them. A link has its address behind it. */
export function renderText({ text, spans }: MarkdownIR): RenderedText {
  const marks = new Map<number, Marks>();
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
    rendered += text.slice(done, offset) + after + before;
    done = offset;
  }
  return { text: rendered + text.slice(done) };
}

function marksOf({ kind, href, language }: Span, shown: string): [string, string] {
  const style = STYLES[kind];
  if (style !== undefined) return [style, style];
  if (kind === "codeBlock") return [`\`\`\`${language ?? ""}\n`, shown.endsWith("\n") ? "```" : "\n```"];
  if (kind === "link" && href !== undefined && href !== shown) return ["", ` (${href.replaceAll(/\s/g, "")})`];
  if (kind === "quote") return ["> ", ""];
  return ["", ""];
}

/** Starts of the lines of a span after its first. */
function linesAfter(text: string, { start, end }: Span): number[] {
  const starts: number[] = [];
  for (let at = text.indexOf("\n", start); at >= 0 && at + 1 < end; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}
