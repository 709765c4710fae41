import { type MarkdownIR, markedText, type RenderedText } from "svc/sdk";

type Span = MarkdownIR["spans"][number];

/** Marks of message styling (XEP-0393), the same before and behind. */
const STYLES: Readonly<Partial<Record<Span["kind"], string>>> = { bold: "*", heading: "*", italic: "_", strike: "~", code: "`" };

/** Text with the marks of message styling: readable as it is, and shown as styles by clients that know them. A link has its address behind it. */
export function renderText(markdown: MarkdownIR): RenderedText {
  return { text: markedText(markdown, { marksOf }) };
}

function marksOf({ kind, href, language }: Span, shown: string): [string, string] {
  const style = STYLES[kind];
  if (style !== undefined) return [style, style];
  if (kind === "codeBlock") return [`\`\`\`${language ?? ""}\n`, shown.endsWith("\n") ? "```" : "\n```"];
  if (kind === "link" && href !== undefined && href !== shown) return ["", ` (${href.replaceAll(/\s/g, "")})`];
  if (kind === "quote") return ["> ", ""];
  return ["", ""];
}
