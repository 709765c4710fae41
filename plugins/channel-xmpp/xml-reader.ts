import type { XmlElement } from "./xml.ts";

/** Bytes of text and tags, by their length in UTF-16, of which a stanza keeps no more. Servers pass on up to 512 KiB. */
const MAX_STANZA_CHARS = 1_048_576;
/** Stanza that no server means to send: it ends the stream. */
const MAX_DROPPED_CHARS = 16 * MAX_STANZA_CHARS;
/** A server passes on a stanza that is one tag. A link that ended with it would end again each time that the server brings it. */
const MAX_TAG_CHARS = MAX_STANZA_CHARS;
/** Elements below a stanza that are kept: further ones are as good as not there. */
const MAX_ELEMENTS = 5_000;
const MAX_DEPTH = 64;
/** Attributes of an element that are kept: an element with more is not whole. */
const MAX_ATTRIBUTES = 64;
/** Prefix that no element declares (Namespaces in XML 1.0, 3). */
const XML_NS = "http://www.w3.org/XML/1998/namespace";

/** Content that a stream may not have, or not in such amounts. */
export class XmlFault extends Error {
  constructor(what: string) {
    super(`the server sends what XMPP does not allow: ${what}`);
  }
}

interface ReaderHandlers {
  /** Called for the start of the stream. */
  onStream(root: XmlElement): void;
  /** Called for each element below it. @param isWhole false when parts of it were too much to keep */
  onStanza(stanza: XmlElement, isWhole: boolean): void;
  /** Called for the end of the stream. */
  onEnd(): void;
}

interface OpenElement extends XmlElement {
  /** As it stands in the tag. */
  rawName: string;
  prefixes: ReadonlyMap<string, string> | undefined;
  hasAllAttrs: boolean;
  children: Array<XmlElement | string>;
}

/**
 * Reads the XML of a stream (RFC 6120, 11): elements, text and CDATA. A document type, comments and instructions end the stream, so there are no entities but the
 * five of XML. Whatever the pieces are, each character is looked at once, and what is kept has bounds.
 */
export class XmlReader {
  readonly #handlers: ReaderHandlers;
  /** Open elements, the stream itself first. */
  #open: OpenElement[] = [];
  /** Begin of a tag, an entity or a CDATA mark whose rest has not come yet. */
  #rest: string[] = [];
  #restChars = 0;
  #state: "text" | "tag" | "cdata" | "ended" = "text";
  /** Quotation mark inside a tag. */
  #quote = "";
  #stanzaChars = 0;
  #elements = 0;
  /** Depth of elements below the last one that is kept. */
  #skipped = 0;
  #isWhole = true;

  constructor(handlers: ReaderHandlers) {
    this.#handlers = handlers;
  }

  /** @throws {XmlFault} for what ends the stream */
  write(text: string): void {
    let at = 0;
    while (at < text.length && this.#state !== "ended") {
      if (this.#state === "text") at = this.#readText(text, at);
      else if (this.#state === "tag") at = this.#readTag(text, at);
      else at = this.#readCdata(text, at);
    }
  }

  #readText(text: string, from: number): number {
    const end = text.indexOf("<", from);
    this.#addText(text.slice(from, end < 0 ? undefined : end), end >= 0);
    if (end < 0) return text.length;
    this.#state = "tag";
    return end + 1;
  }

  /** @param isEnd the text does not go on in the next piece */
  #addText(piece: string, isEnd: boolean): void {
    const text = this.#takeRest() + piece;
    // An entity may be cut; the longest is `&#x10FFFF;`.
    const entity = isEnd ? -1 : text.lastIndexOf("&");
    const isCut = entity >= 0 && text.length - entity < 12 && !text.includes(";", entity);
    if (isCut) this.#keepRest(text.slice(entity));
    this.#append(decodeEntities(isCut ? text.slice(0, entity) : text));
  }

  #readTag(text: string, from: number): number {
    let at = from;
    for (; at < text.length; at += 1) {
      const char = text[at] as string;
      if (this.#quote !== "") {
        const end = text.indexOf(this.#quote, at);
        if (end < 0) {
          at = text.length;
          break;
        }
        at = end;
        this.#quote = "";
      } else if (char === ">") break;
      else if (char === '"' || char === "'") this.#quote = char;
      else if (char === "<") throw new XmlFault("a tag inside a tag");
      else if (char === "[" && this.#restChars + at - from < 9 && this.#peek(text, from, at + 1) === "![CDATA[") {
        this.#takeRest();
        this.#state = "cdata";
        return at + 1;
      }
    }
    this.#keepRest(text.slice(from, at));
    if (at >= text.length) return at;
    this.#state = "text";
    this.#tag(this.#takeRest());
    return at + 1;
  }

  #readCdata(text: string, from: number): number {
    // The mark may be cut: its first two characters are kept for the next piece.
    const all = this.#takeRest() + text.slice(from);
    const end = all.indexOf("]]>");
    if (end >= 0) {
      this.#append(all.slice(0, end));
      this.#state = "text";
      return text.length - (all.length - end - 3);
    }
    const kept = all.endsWith("]]") ? 2 : all.endsWith("]") ? 1 : 0;
    this.#append(all.slice(0, all.length - kept));
    this.#keepRest(all.slice(all.length - kept));
    return text.length;
  }

  #peek(text: string, from: number, to: number): string {
    return this.#rest.join("") + text.slice(from, to);
  }

  #keepRest(piece: string): void {
    this.#restChars += piece.length;
    if (this.#restChars > MAX_TAG_CHARS) throw new XmlFault(`a tag longer than ${MAX_TAG_CHARS} characters`);
    if (piece !== "") this.#rest.push(piece);
  }

  #takeRest(): string {
    const rest = this.#rest.length > 1 ? this.#rest.join("") : (this.#rest[0] ?? "");
    this.#rest = [];
    this.#restChars = 0;
    return rest;
  }

  #tag(tag: string): void {
    if (tag.startsWith("?xml") && this.#open.length === 0) return;
    if (tag.startsWith("?") || tag.startsWith("!")) throw new XmlFault("a comment, an instruction or a document type");
    if (tag.startsWith("/")) return this.#close(tag.slice(1).trimEnd());
    const isEmpty = tag.endsWith("/");
    this.#count(tag.length);
    if (this.#open.length === 0) {
      if (isEmpty) throw new XmlFault("a stream without content");
      const root = openElement(tag, []);
      this.#open.push(root);
      return this.#handlers.onStream(root);
    }
    if (this.#open.length === 1) this.#begin(tag.length);
    this.#elements += 1;
    const isStanza = this.#open.length === 1;
    const isTooMuch = this.#isFull() || this.#elements > MAX_ELEMENTS || this.#open.length > MAX_DEPTH;
    if (!isStanza && (this.#skipped > 0 || isTooMuch)) {
      this.#isWhole = false;
      if (!isEmpty) this.#skipped += 1;
      return;
    }
    const element = openElement(isEmpty ? tag.slice(0, -1) : tag, this.#open);
    // Among what was dropped may be the sender.
    if (!element.hasAllAttrs) this.#isWhole = false;
    this.#open.push(element);
    if (isEmpty) this.#close(undefined);
  }

  /** @param rawName name in the end tag; undefined for an empty element */
  #close(rawName: string | undefined): void {
    if (this.#skipped > 0) {
      this.#skipped -= 1;
      return;
    }
    const element = this.#open.pop();
    if (!element || (rawName !== undefined && rawName !== element.rawName)) throw new XmlFault("an end tag without its begin");
    const parent = this.#open.at(-1);
    if (!parent) {
      this.#state = "ended";
      return this.#handlers.onEnd();
    }
    if (this.#open.length > 1) parent.children.push(element);
    else this.#handlers.onStanza(element, this.#isWhole);
  }

  #begin(chars: number): void {
    this.#stanzaChars = chars;
    this.#elements = 0;
    this.#isWhole = true;
  }

  #append(text: string): void {
    if (text === "") return;
    // Blanks between stanzas keep the link alive; anything else there is no stream.
    if (this.#open.length < 2) {
      if (/[^ \t\r\n]/.test(text)) throw new XmlFault("text between the elements of the stream");
      return;
    }
    this.#count(text.length);
    if (this.#skipped > 0) return;
    if (this.#isFull()) this.#isWhole = false;
    else this.#open.at(-1)?.children.push(text);
  }

  #count(chars: number): void {
    this.#stanzaChars += chars;
    if (this.#stanzaChars > MAX_DROPPED_CHARS) throw new XmlFault(`a stanza longer than ${MAX_DROPPED_CHARS} characters`);
  }

  #isFull(): boolean {
    return this.#stanzaChars > MAX_STANZA_CHARS;
  }
}

const name = /^[^\s/>=<"'&]+/;
const attribute = /\s+([^\s/>=<"'&]+)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/y;

function openElement(tag: string, parents: readonly OpenElement[]): OpenElement {
  const rawName = name.exec(tag)?.[0];
  if (rawName === undefined) throw new XmlFault("a tag without a name");
  const attrs = new Map<string, string>();
  const keys = new Set<string>();
  let prefixes: Map<string, string> | undefined;
  attribute.lastIndex = rawName.length;
  let done = rawName.length;
  for (let found = attribute.exec(tag); found; found = attribute.exec(tag)) {
    done = attribute.lastIndex;
    const [, key = "", double, single = ""] = found;
    const value = decodeEntities(double ?? single);
    if (keys.has(key)) throw new XmlFault("an attribute twice");
    keys.add(key);
    if (attrs.size < MAX_ATTRIBUTES) attrs.set(key, value);
    if (key === "xmlns" || key.startsWith("xmlns:")) {
      prefixes ??= new Map();
      prefixes.set(key.slice(6), value);
    }
  }
  if (tag.slice(done).trim() !== "") throw new XmlFault("a tag that is not well formed");
  const colon = rawName.indexOf(":");
  const prefix = colon < 0 ? "" : rawName.slice(0, colon);
  return {
    rawName,
    name: rawName.slice(colon + 1),
    ns: prefixes?.get(prefix) ?? namespaceOf(prefix, parents),
    attrs,
    prefixes,
    hasAllAttrs: keys.size === attrs.size,
    children: [],
  };
}

function namespaceOf(prefix: string, parents: readonly OpenElement[]): string {
  for (let i = parents.length - 1; i >= 0; i -= 1) {
    const found = parents[i]?.prefixes?.get(prefix);
    if (found !== undefined) return found;
  }
  if (prefix === "xml") return XML_NS;
  if (prefix !== "") throw new XmlFault("a prefix that stands for nothing");
  return "";
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function decodeEntities(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(/&(?:([a-z]{2,4});|#(\d{1,7});|#x([\dA-Fa-f]{1,6});)?/g, (_, word?: string, decimal?: string, hex?: string) => {
    if (word !== undefined && Object.hasOwn(entities, word)) return entities[word] as string;
    const code = decimal !== undefined ? Number(decimal) : hex !== undefined ? Number.parseInt(hex, 16) : 0;
    const isCharacter = code === 9 || code === 10 || code === 13 || (code >= 32 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff));
    if (!isCharacter) throw new XmlFault("an entity that XML does not know");
    return String.fromCodePoint(code);
  });
}
