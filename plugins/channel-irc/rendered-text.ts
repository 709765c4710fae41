import { type MarkdownIR, markedText, type RenderedText } from "svc/sdk";

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
export function renderText(markdown: MarkdownIR): RenderedText {
  return { text: styledByLine(markedText(markdown, { marksOf, clean })) };
}

function marksOf({ kind, href }: Span, shown: string): [string, string] {
  const style = STYLES[kind];
  if (style !== undefined) return [style, style];
  if (kind === "code") return ["`", "`"];
  if (kind === "link" && href !== undefined && href !== shown) return ["", ` (${clean(href.replaceAll("\n", ""))})`];
  if (kind === "quote") return ["> ", ""];
  return ["", ""];
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
