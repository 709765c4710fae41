import { type MarkdownIR, markedText, type RenderedText } from "svc/sdk";

type Span = MarkdownIR["spans"][number];

/** Longest text of a message: longer ones are accepted when posted, but cannot be edited (docs.slack.dev/reference/methods/chat.update). */
export const MAX_TEXT = 4_000;

const STYLES: Readonly<Partial<Record<Span["kind"], string>>> = { bold: "*", heading: "*", italic: "_", strike: "~", code: "`" };
/** Slack takes a mark for one only where no letter touches it; this has no width. */
const GAP = "\u200B";

/** Text in Slack's mrkdwn. Everything that could be taken for a mention, a channel or a link is escaped. */
export function renderText(markdown: MarkdownIR): RenderedText {
  const { text } = markdown;
  const touches = (at: number) => /[\p{L}\p{N}]/u.test(text.charAt(at));
  const marksOf = (span: Span, shown: string): readonly [string, string] => {
    const { kind, start, end, href } = span;
    if (kind === "quote") return ["> ", ""];
    if (kind === "link") return linkMarks(href, shown);
    if (kind === "codeBlock") return ["```\n", shown.endsWith("\n") ? "```" : "\n```"];
    const style = STYLES[kind] as string;
    // A mark inside would end it.
    if (shown.includes("`") && kind === "code") return ["", ""];
    return [`${start > 0 && touches(start - 1) ? GAP : ""}${style}`, `${style}${touches(end) ? GAP : ""}`];
  };
  return { text: markedText(markdown, { marksOf, clean: escapeText }) };
}

/** Writes text so that Slack shows it as it is (docs.slack.dev/messaging/formatting-message-text#escaping). */
export function escapeText(text: string): string {
  return text
    .replace(/(?![\n\t])\p{Cc}/gu, "")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}

function linkMarks(href: string | undefined, shown: string): readonly [string, string] {
  if (href === undefined) return ["", ""];
  // An address that is none of the web stands behind the words, where it is only text.
  if (!/^(https?:\/\/|mailto:)/i.test(href) || href.length > 2_000)
    return ["", href === shown ? "" : ` (${escapeText(href.slice(0, 2_000))})`];
  const address = href.replace(/[\s<>|]/g, (char) => encodeURIComponent(char)).replaceAll("&", "&amp;");
  return [`<${address}|`, ">"];
}
