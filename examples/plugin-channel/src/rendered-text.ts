import type { MarkdownIR, RenderedText } from "svc/sdk";

type Span = MarkdownIR["spans"][number];

/** Marks of this platform, the same before and behind. */
const marks: Readonly<Partial<Record<Span["kind"], string>>> = { bold: "*", heading: "*", italic: "_", strike: "~", code: "`" };

/**
 * Text with the marks of the platform. Spans are in order, one inside the other or apart from each other; the host cuts a long text into pieces before it is
 * rendered, so each piece has whole spans.
 */
export function renderText({ text, spans }: MarkdownIR): RenderedText {
  const inserts = new Map<number, { ends: string; starts: string }>();
  const at = (offset: number) => {
    const known = inserts.get(offset) ?? { ends: "", starts: "" };
    inserts.set(offset, known);
    return known;
  };
  for (const span of spans) {
    const [start, end] = marksOf(span, text.slice(span.start, span.end));
    at(span.start).starts += start;
    at(span.end).ends = end + at(span.end).ends;
  }
  let rendered = "";
  let done = 0;
  for (const [offset, { ends, starts }] of [...inserts].sort(([a], [b]) => a - b)) {
    rendered += text.slice(done, offset) + ends + starts;
    done = offset;
  }
  return { text: rendered + text.slice(done) };
}

function marksOf({ kind, href, language }: Span, shown: string): [string, string] {
  if (kind === "codeBlock") return [`\`\`\`${language ?? ""}\n`, "\n```"];
  if (kind === "quote") return ["> ", ""];
  if (kind === "link") return ["", href === shown ? "" : ` (${href ?? ""})`];
  const mark = marks[kind] ?? "";
  return [mark, mark];
}
