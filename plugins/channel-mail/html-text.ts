import { decodeEntities } from "./html-entities.ts";
import { isInvisible, type Look, lookOf, PAGE, readSheet, type Sheet } from "./html-hidden.ts";
import { type HtmlToken, htmlTokens } from "./html-tokens.ts";

/** Text of an HTML mail as a person reads it. */
export interface ShownText {
  text: string;
  /** Characters that no person would have seen: hidden, without size, in the colour of the background. */
  hiddenChars: number;
}

interface Open {
  tag: string;
  look: Look;
  href?: string;
  /** Place in the written text where a link begins. */
  from: number;
  isPre: boolean;
  /** Quotations that it stands in, itself included. */
  quotes: number;
}

/** Elements that may stand open in each other; deeper ones count as part of the one above. */
const MAX_DEPTH = 256;
const MAX_ADDRESS_CHARS = 2_000;

const blocks = new Set(
  "address article aside blockquote body center dd div dl dt fieldset footer form h1 h2 h3 h4 h5 h6 header html li main nav ol p pre section table tbody tfoot thead tr ul".split(
    " ",
  ),
);
/** Elements that stand apart from what surrounds them by an empty line. */
const spaced = new Set("p h1 h2 h3 h4 h5 h6 ul ol table blockquote pre".split(" "));
const empty = new Set("area base br col embed hr img input link meta param source track wbr".split(" "));
/** Elements whose content is never shown. */
const unseen = new Set("head title template noscript noframes object select textarea svg math audio video iframe".split(" "));

/** Turns an HTML mail into text, in one pass. */
export function htmlToText(html: string): ShownText {
  const writer = new Writer();
  const sheets: string[] = [];
  for (const token of htmlTokens(html)) if (token.kind === "raw" && token.tag === "style") sheets.push(token.text);
  const page = new Page(readSheet(sheets.join("\n")), writer);
  for (const token of htmlTokens(html)) page.take(token);
  page.end();
  return { text: writer.text, hiddenChars: writer.hiddenChars };
}

class Page {
  readonly #sheet: Sheet;
  readonly #writer: Writer;
  readonly #stack: Open[] = [];

  constructor(sheet: Sheet, writer: Writer) {
    this.#sheet = sheet;
    this.#writer = writer;
  }

  take(token: HtmlToken): void {
    if (token.kind === "text") return this.#writer.say(decodeEntities(token.text), this.#state);
    if (token.kind === "open") return this.#open(token.tag, token.attributes);
    if (token.kind === "close") this.#close(token.tag);
  }

  end(): void {
    while (this.#stack.length > 0) this.#pop();
  }

  get #state(): { isHidden: boolean; isPre: boolean; quotes: number } {
    const top = this.#stack.at(-1);
    return {
      isHidden: top !== undefined && isInvisible(top.look),
      isPre: top?.isPre === true,
      quotes: top?.quotes ?? 0,
    };
  }

  #open(tag: string, attributes: ReadonlyMap<string, string>): void {
    const isBlock = blocks.has(tag);
    // A paragraph and an item end where the next block begins: one that hides itself does not hide the rest of the mail.
    const last = this.#stack.at(-1)?.tag;
    if ((isBlock && last === "p") || (tag === last && (tag === "li" || tag === "tr" || tag === "td"))) this.#pop();
    const parent = this.#stack.at(-1);
    const seen = lookOf(tag, attributes, this.#sheet, parent?.look ?? PAGE);
    const look = unseen.has(tag) ? { ...seen, isHidden: true } : seen;
    if (isBlock) this.#writer.breakLine(spaced.has(tag) ? 2 : 1);
    const isHidden = isInvisible(look);
    if (!isHidden) this.#mark(tag, attributes);
    if (empty.has(tag) || this.#stack.length >= MAX_DEPTH) return;
    const href = tag === "a" ? decodeEntities(attributes.get("href") ?? "") : "";
    this.#stack.push({
      tag,
      look,
      ...(/^(?:https?:|mailto:)/i.test(href) ? { href } : {}),
      from: this.#writer.place,
      isPre: tag === "pre" || parent?.isPre === true,
      quotes: (parent?.quotes ?? 0) + (tag === "blockquote" ? 1 : 0),
    });
  }

  /** Signs in place of an element. */
  #mark(tag: string, attributes: ReadonlyMap<string, string>): void {
    if (tag === "br") this.#writer.lineBreak();
    else if (tag === "hr") this.#writer.say("---", { isHidden: false, isPre: false, quotes: 0 });
    else if (tag === "li") this.#writer.say("- ", { ...this.#state, isPre: true });
    else if (tag === "td" || tag === "th") this.#writer.cell();
    else if (tag === "img") {
      const alt = decodeEntities(attributes.get("alt") ?? "").trim();
      if (alt !== "") this.#writer.say(`[image: ${alt.slice(0, 200)}]`, this.#state);
    }
  }

  /** Ends the nearest open element of this kind; an end without a beginning ends nothing. */
  #close(tag: string): void {
    if (tag === "br") return this.#writer.lineBreak();
    if (!this.#stack.some((open) => open.tag === tag)) return;
    while (this.#pop() !== tag);
  }

  #pop(): string | undefined {
    const open = this.#stack.at(-1);
    if (!open) return undefined;
    if (open.href !== undefined && !isInvisible(open.look)) this.#writer.address(open.href, open.from, this.#state);
    this.#stack.pop();
    if (blocks.has(open.tag)) this.#writer.breakLine(spaced.has(open.tag) ? 2 : 1);
    return open.tag;
  }
}

/** Collects the text: blanks as a browser shows them, line breaks where blocks begin and end. */
class Writer {
  hiddenChars = 0;
  readonly #parts: string[] = [];
  /** Characters written. */
  length = 0;
  /** Line breaks that come before the next word. */
  #breaks = 0;
  #hasBlank = false;

  get text(): string {
    const lines = this.#parts.join("").split("\n");
    return lines
      .map((line) => line.trimEnd())
      .join("\n")
      .trimEnd();
  }

  get place(): number {
    return this.#parts.length;
  }

  say(text: string, { isHidden, isPre, quotes }: { isHidden: boolean; isPre: boolean; quotes: number }): void {
    if (isHidden) {
      for (const char of text) if (!/\s|\p{Default_Ignorable_Code_Point}/u.test(char)) this.hiddenChars += 1;
      return;
    }
    if (isPre) return this.#write(text, quotes);
    for (const part of text.split(/([ \t\n\r\f]{1,100000})/)) {
      if (part === "") continue;
      if (/^[ \t\n\r\f]/.test(part)) this.#hasBlank = true;
      else this.#write(part, quotes);
    }
  }

  breakLine(count: 1 | 2): void {
    if (this.length > 0) this.#breaks = Math.max(this.#breaks, count);
    this.#hasBlank = false;
  }

  lineBreak(): void {
    this.#breaks = Math.min(3, this.#breaks + 1);
    this.#hasBlank = false;
  }

  /** A cell of a table stands apart from the one before it. */
  cell(): void {
    if (this.#breaks === 0 && this.length > 0) this.#hasBlank = true;
  }

  /** Address of a link behind its words, unless they are the address. */
  address(href: string, from: number, state: { isHidden: boolean; isPre: boolean; quotes: number }): void {
    let words = "";
    for (let at = from; at < this.#parts.length && words.length <= MAX_ADDRESS_CHARS; at += 1) words += this.#parts[at];
    words = words.trim();
    const bare = href.replace(/^mailto:/i, "");
    if (words === "" || words === href || words === bare || `${words}/` === href) {
      if (words === "") this.say(bare.slice(0, MAX_ADDRESS_CHARS), state);
      return;
    }
    this.#hasBlank = true;
    this.say(`(${bare.slice(0, MAX_ADDRESS_CHARS)})`, state);
  }

  #write(text: string, quotes: number): void {
    const mark = "> ".repeat(Math.min(10, quotes));
    let before = this.#breaks > 0 ? "\n".repeat(this.#breaks) : this.#hasBlank && this.length > 0 ? " " : "";
    if (this.length === 0 || before.endsWith("\n")) before += mark;
    this.#breaks = 0;
    this.#hasBlank = false;
    const added = before + (mark === "" ? text : text.replaceAll("\n", `\n${mark}`));
    this.#parts.push(added);
    this.length += added.length;
  }
}
