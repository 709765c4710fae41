import type { MarkdownIR, RenderedText } from "svc/sdk";
import type { Entity } from "./updates.ts";

/** Longest message, in UTF-16 units (core.telegram.org/bots/api#sendmessage). */
export const MAX_TEXT = 4_096;
/** Longest text below a picture or file. */
export const MAX_CAPTION = 1_024;

const TYPES: Readonly<Record<MarkdownIR["spans"][number]["kind"], string>> = {
  bold: "bold",
  heading: "bold",
  italic: "italic",
  strike: "strikethrough",
  code: "code",
  codeBlock: "pre",
  link: "text_link",
  quote: "blockquote",
};

/** Text with its entities: places instead of marks, so nothing in the text can be taken for a mark. */
export function renderText({ text, spans }: MarkdownIR): RenderedText {
  const entities = spans
    .filter(({ kind, start, end, href }) => end > start && (kind !== "link" || isLink(href)))
    .map(({ kind, start, end, href, language }): Entity => {
      const entity = { type: TYPES[kind], offset: start, length: end - start };
      if (kind === "link") return { ...entity, url: href as string };
      return kind === "codeBlock" && language ? { ...entity, language } : entity;
    });
  // One blank for each unit that is taken out: the places stay right.
  return { text: text.replace(/(?![\n\t])\p{Cc}/gu, " "), ...(entities.length > 0 ? { entities } : {}) };
}

function isLink(href: string | undefined): boolean {
  return href !== undefined && /^(https?|tg|mailto):/i.test(href) && href.length <= 2_000;
}
