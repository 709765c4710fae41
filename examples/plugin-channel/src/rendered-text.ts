import { type MarkdownIR, markedText, type RenderedText } from "svc/sdk";

type Span = MarkdownIR["spans"][number];

/** Marks of this platform, the same before and behind. */
const marks: Readonly<Partial<Record<Span["kind"], string>>> = { bold: "*", heading: "*", italic: "_", strike: "~", code: "`" };

/**
 * Text with the marks of the platform. Spans are in order, one inside the other or apart from each other; the host cuts a long text into pieces before it is
 * rendered, so each piece has whole spans.
 */
export function renderText(markdown: MarkdownIR): RenderedText {
  return { text: markedText(markdown, { marksOf }) };
}

function marksOf({ kind, href, language }: Span, shown: string): [string, string] {
  if (kind === "codeBlock") return [`\`\`\`${language ?? ""}\n`, "\n```"];
  if (kind === "quote") return ["> ", ""];
  if (kind === "link") return ["", href === shown ? "" : ` (${href ?? ""})`];
  const mark = marks[kind] ?? "";
  return [mark, mark];
}
