import type { MarkdownIR, RenderedText } from "svc/sdk";

type Span = MarkdownIR["spans"][number];

/** Names the form of `entities`: one text, the HTML of the mail. */
export const HTML = "html";

/** A text in both forms of a mail: plain, with addresses of links behind their words and `>` before quotations, and as simple HTML. */
export function renderText(markdown: MarkdownIR): RenderedText {
  return { text: toPlain(markdown), parseMode: HTML, entities: [toHtml(markdown)] };
}

function toPlain({ text, spans }: MarkdownIR): string {
  const added = new Map<number, string>();
  const add = (at: number, what: string) => added.set(at, (added.get(at) ?? "") + what);
  for (const { kind, start, end, href } of spans) {
    if (kind === "link" && href !== undefined && href !== text.slice(start, end)) add(end, ` (${href.replace(/\s+/g, "")})`);
    if (kind !== "quote") continue;
    add(start, "> ");
    for (let at = text.indexOf("\n", start); at >= 0 && at + 1 < end; at = text.indexOf("\n", at + 1)) add(at + 1, "> ");
  }
  let plain = "";
  let done = 0;
  for (const [at, what] of [...added].sort(([a], [b]) => a - b)) {
    plain += text.slice(done, at) + what;
    done = at;
  }
  return clean(plain + text.slice(done));
}

const tags: Readonly<Record<Span["kind"], string>> = {
  bold: "b",
  italic: "i",
  strike: "s",
  code: "code",
  codeBlock: "pre",
  link: "a",
  quote: "blockquote",
  heading: "h3",
};

/** Where spans overlap without one being inside the other, the inner one is closed and opened again. */
function toHtml({ text, spans }: MarkdownIR): string {
  const starts = spans.filter(({ start, end }) => start < end).sort((a, b) => a.start - b.start || b.end - a.end);
  const offsets = [...new Set(starts.flatMap(({ start, end }) => [start, end]))].sort((a, b) => a - b);
  const open: Span[] = [];
  let html = "";
  let done = 0;
  let next = 0;
  for (const offset of offsets) {
    html += escaped(text.slice(done, offset), open);
    done = offset;
    const first = open.findIndex(({ end }) => end <= offset);
    if (first >= 0) {
      const closed = open.splice(first);
      for (const span of closed.toReversed()) html += `</${tags[span.kind]}>`;
      for (const span of closed.filter(({ end }) => end > offset)) {
        html += opening(span);
        open.push(span);
      }
    }
    for (let span = starts[next]; span && span.start === offset; span = starts[++next]) {
      html += opening(span);
      open.push(span);
    }
  }
  html += escaped(text.slice(done), []);
  return `<div>${html}</div>`;
}

function opening({ kind, href }: Span): string {
  if (kind !== "link") return `<${tags[kind]}>`;
  // Only addresses that a mail program opens as such.
  return /^(?:https?:|mailto:)/i.test(href ?? "") ? `<a href="${escapeHtml(href ?? "")}">` : "<a>";
}

function escaped(text: string, open: readonly Span[]): string {
  const html = escapeHtml(clean(text));
  return open.some(({ kind }) => kind === "codeBlock") ? html : html.replaceAll("\n", "<br>\n");
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

/** Control characters have no place in a mail. */
function clean(text: string): string {
  return text.replace(/(?![\n\t])\p{Cc}/gu, "");
}
