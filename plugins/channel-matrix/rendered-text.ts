import { type MarkdownIR, markedText, type RenderedText } from "svc/sdk";

/**
 * Longest text of one message, in bytes. An event has at most 65,536 bytes of JSON (spec.matrix.org, "Size limits"), with the text in it twice and escaped: of this
 * length it fits whatever it holds.
 */
export const MAX_TEXT_BYTES = 16_384;

type Span = MarkdownIR["spans"][number];

const TAGS: Readonly<Record<Span["kind"], readonly [string, string]>> = {
  bold: ["<strong>", "</strong>"],
  heading: ["<strong>", "</strong>"],
  italic: ["<em>", "</em>"],
  strike: ["<del>", "</del>"],
  code: ["<code>", "</code>"],
  codeBlock: ["<pre><code>", "</code></pre>"],
  quote: ["<blockquote>", "</blockquote>"],
  link: ["", ""],
};

/** Text in both its forms: the plain one, with the addresses of links, and HTML beside it where anything is marked. */
export function renderText(markdown: MarkdownIR): RenderedText {
  // One blank for each unit that is taken out: the places stay right.
  const text = markdown.text.replace(/(?![\n\t])\p{Cc}/gu, " ");
  const spans = markdown.spans.filter(({ start, end }) => end > start);
  const plain = markedText(
    { text, spans },
    {
      marksOf: ({ kind, href }, shown) => {
        if (kind === "quote") return ["> ", ""];
        return ["", kind === "link" && isLink(href) && href !== shown ? ` (${href})` : ""];
      },
    },
  );
  return { text: plain, ...(spans.length > 0 ? { parseMode: "html", entities: [{ html: htmlOf({ text, spans }) }] } : {}) };
}

/** HTML of a text, where the channel has rendered one. */
export function htmlIn({ entities }: RenderedText): string | undefined {
  const [first] = (entities ?? []) as Array<{ html?: unknown } | undefined>;
  return typeof first?.html === "string" ? first.html : undefined;
}

/** Work grows with the text and the number of spans, which stand one inside the other or apart. */
function htmlOf({ text, spans }: MarkdownIR): string {
  const marks = new Map<number, { before: string; after: string; fences: number }>();
  const at = (offset: number) => {
    const known = marks.get(offset) ?? { before: "", after: "", fences: 0 };
    marks.set(offset, known);
    return known;
  };
  for (const span of spans) {
    const [open, close] = tagsOf(span);
    const [start, end] = [at(span.start), at(span.end)];
    start.before += open;
    end.after = close + end.after;
    if (span.kind !== "codeBlock") continue;
    start.fences += 1;
    end.fences -= 1;
  }
  let html = "";
  let done = 0;
  let fences = 0;
  const part = (end: number) => escaped(text.slice(done, end), fences > 0);
  for (const [offset, { before, after, fences: more }] of [...marks].sort(([a], [b]) => a - b)) {
    html += part(offset) + after + before;
    done = offset;
    fences += more;
  }
  return html + part(text.length);
}

function tagsOf({ kind, href, language }: Span): readonly [string, string] {
  if (kind === "link") return isLink(href) ? [`<a href="${escaped(href, true)}">`, "</a>"] : TAGS.link;
  if (kind === "codeBlock" && language !== undefined && /^[\w+#.-]{1,32}$/.test(language))
    return [`<pre><code class="language-${language}">`, "</code></pre>"];
  return TAGS[kind];
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function escaped(text: string, isFenced: boolean): string {
  const safe = text.replace(/[&<>"]/g, (sign) => ENTITIES[sign] ?? sign);
  return isFenced ? safe : safe.replaceAll("\n", "<br>");
}

/** Kinds of addresses that clients show as links. */
function isLink(href: string | undefined): href is string {
  return href !== undefined && /^(?:https?:\/\/|mailto:)[^\s\p{Cc}]+$/iu.test(href) && href.length <= 2_000;
}
