import { type MarkdownIR, markedText, type RenderedText } from "svc/sdk";

type Span = MarkdownIR["spans"][number];

/** Longest message, in code points: the API counts as Python does (discord/discord-api-docs#1315). */
export const MAX_TEXT = 2_000;

const MARKS: Readonly<Partial<Record<Span["kind"], string>>> = { bold: "**", heading: "**", italic: "*", strike: "~~" };
/** Two backticks hold a single one. */
const CODE = "``";

/** Text in Discord's Markdown. What could be taken for a mark is escaped; a link has its address behind it. */
export function renderText(markdown: MarkdownIR): RenderedText {
  const code = markdown.spans.filter(({ kind }) => kind === "code" || kind === "codeBlock").toSorted((a, b) => a.start - b.start);
  let at = 0;
  let next = 0;
  // Parts come in their order, and each of them is as a whole in a span or outside.
  const clean = (part: string) => {
    const start = at;
    at += part.length;
    const visible = part.replace(/(?![\n\t])\p{Cc}/gu, "");
    while ((code[next]?.end ?? Number.POSITIVE_INFINITY) <= start) next += 1;
    const span = code[next];
    if (!span || span.start > start) return escaped(visible, start === 0 || markdown.text[start - 1] === "\n");
    if (span.kind === "codeBlock") return visible.replaceAll("```", "``\u200b`");
    return visible.replaceAll(CODE, "`\u200b`").replace(/^`|`$/g, "\u200b`\u200b");
  };
  return { text: markedText(markdown, { marksOf, clean }) };
}

function marksOf({ kind, href, language }: Span, shown: string): [string, string] {
  const mark = MARKS[kind];
  if (mark !== undefined) return [mark, mark];
  if (kind === "code") return [CODE, CODE];
  if (kind === "codeBlock")
    return [`\`\`\`${/^[\w+#.-]{1,30}$/.test(language ?? "") ? language : ""}\n`, shown.endsWith("\n") ? "```" : "\n```"];
  // Angle brackets show where the address ends; previews are off for the whole message.
  if (kind === "link" && href !== undefined && href !== shown) return ["", ` (<${href.replace(/[\s<>]/g, encodeURIComponent)}>)`];
  if (kind === "quote") return ["> ", ""];
  return ["", ""];
}

/** Escapes marks; an address stays as it is, because a backslash would become a part of it. */
function escaped(text: string, isLineStart: boolean): string {
  const parts = text.split(/(https?:\/\/[^\s<>]+)/);
  return parts.map((part, i) => (i % 2 === 1 ? part : escapedWords(part, i === 0 ? isLineStart : false))).join("");
}

function escapedWords(text: string, isLineStart: boolean): string {
  const marked = text.replace(/[\\*_~|`[]/g, "\\$&").replace(/\n(#{1,3} |-# |>)/g, "\n\\$1");
  return isLineStart ? marked.replace(/^(#{1,3} |-# |>)/, "\\$1") : marked;
}
