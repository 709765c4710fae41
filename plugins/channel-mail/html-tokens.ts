export type HtmlToken =
  | { kind: "text"; text: string }
  | { kind: "open"; tag: string; attributes: ReadonlyMap<string, string> }
  | { kind: "close"; tag: string }
  /** Content of an element that is no HTML. */
  | { kind: "raw"; tag: string; text: string };

/** Elements whose content is no HTML, and where they end. */
const rawElements: ReadonlyMap<string, RegExp> = new Map([
  ["style", /<\/style[\s>/]/gi],
  ["script", /<\/script[\s>/]/gi],
  ["xmp", /<\/xmp[\s>/]/gi],
]);
const MAX_ATTRIBUTES = 50;
/** Longest tag that is read; what is longer is passed over to its end. */
const MAX_TAG_CHARS = 20_000;

/** Cuts HTML into tags and text, in one pass and without ever looking at a character a third time. Comments are left out. */
export function* htmlTokens(html: string): Generator<HtmlToken> {
  // Where there is no further `>` or `-->`, none is looked for.
  const lastEnd = html.lastIndexOf(">");
  const lastComment = html.lastIndexOf("-->");
  for (let at = 0; at < html.length; ) {
    const open = html.indexOf("<", at);
    if (open < 0) return yield { kind: "text", text: html.slice(at) };
    if (open > at) yield { kind: "text", text: html.slice(at, open) };
    if (html.startsWith("<!--", open)) {
      // A comment without an end hides the rest, as it does in a browser.
      if (open + 2 > lastComment) return;
      at = html.indexOf("-->", open + 2) + 3;
      continue;
    }
    if (open > lastEnd) return yield { kind: "text", text: html.slice(open) };
    if (!/[a-zA-Z/!?]/.test(html[open + 1] ?? "")) {
      yield { kind: "text", text: "<" };
      at = open + 1;
      continue;
    }
    const end = tagEnd(html, open);
    if (end < 0) return yield { kind: "text", text: html.slice(open) };
    const inside = html.slice(open + 1, Math.min(end, open + MAX_TAG_CHARS));
    at = end + 1;
    const name = /^\/?([a-zA-Z][a-zA-Z0-9:-]{0,50})/.exec(inside)?.[1]?.toLowerCase();
    if (name === undefined) continue;
    if (inside.startsWith("/")) yield { kind: "close", tag: name };
    else {
      yield { kind: "open", tag: name, attributes: attributesOf(inside.slice(name.length)) };
      const ending = rawElements.get(name);
      if (ending) {
        ending.lastIndex = at;
        const close = ending.exec(html)?.index ?? html.length;
        yield { kind: "raw", tag: name, text: html.slice(at, close) };
        yield { kind: "close", tag: name };
        const past = close < html.length ? html.indexOf(">", close) : -1;
        at = past < 0 ? html.length : past + 1;
      }
    }
  }
}

/** End of a tag; a `>` between quotes is none. @returns -1 when there is none */
function tagEnd(html: string, open: number): number {
  let quote = "";
  const limit = Math.min(html.length, open + MAX_TAG_CHARS);
  for (let at = open + 1; at < limit; at += 1) {
    const char = html[at] as string;
    if (quote !== "") {
      if (char === quote) quote = "";
    } else if (char === ">") return at;
    else if ((char === '"' || char === "'") && html[at - 1] === "=") quote = char;
    else if ((char === '"' || char === "'") && /\s/.test(html[at - 1] ?? "") && /=\s*$/.test(html.slice(Math.max(open, at - 20), at))) quote = char; // biome-ignore format: one rule
  }
  return html.indexOf(">", open);
}

function attributesOf(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const pattern = /([^\s=/"'<>]{1,100})(?:\s{0,20}=\s{0,20}(?:"([^"]*)"|'([^']*)'|([^\s"'>]{1,4000})))?/g;
  for (const [, name = "", double, single, bare] of text.matchAll(pattern)) {
    if (found.size >= MAX_ATTRIBUTES) break;
    const key = name.toLowerCase();
    if (!found.has(key)) found.set(key, double ?? single ?? bare ?? "");
  }
  return found;
}
