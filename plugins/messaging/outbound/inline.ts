import type { MarkdownIR } from "svc/sdk";

export type Span = MarkdownIR["spans"][number];

/** A piece of the source: text, and where styles begin behind it or end before it. */
interface Node {
  text: string;
}

/** A mark that may begin a style or a link. */
interface Opener {
  char: "*" | "_" | "~" | "[";
  node: number;
  /** Characters of the run that no closing mark has used. */
  left: number;
}

interface Pair {
  kind: Span["kind"];
  from: number;
  to: number;
  href?: string;
}

/** Schemes that a link may have; another address stays in the text as it was written. */
const LINK_SCHEME = /^(?:https?|mailto|tel|xmpp|ircs?|matrix|tg):/i;
const AUTOLINK = /<((?:https?|mailto|tel|xmpp|ircs?|matrix|tg):[^\s<>]{1,2000})>/y;
const BARE_URL = /https?:\/\/[^\s<>"`[\]]{1,2000}/y;
const PLAIN = /[^\\`*_~[\]!<h]+/y;
const ESCAPABLE = /[!-/:-@[-`{-~]/;
const PUNCTUATION = /[\p{P}\p{S}]/u;
const MAX_HREF_CHARS = 2_000;

/**
 * Reads the marks inside one paragraph: emphasis, code, links. A mark without its counterpart stays as it was written. Each mark is put on a stack once and
 * taken off once, so the time is in proportion to the text, whatever the text is.
 */
export function parseInline(source: string): { text: string; spans: Span[] } {
  const reader = new InlineReader(source);
  return reader.read();
}

class InlineReader {
  readonly #source: string;
  readonly #nodes: Node[] = [];
  readonly #pairs: Pair[] = [];
  readonly #openers: Opener[] = [];
  readonly #open = { "*": 0, _: 0, "~": 0, "[": 0 };
  /** Start of the next run of backticks with the same length, by the start of a run. */
  #nextTicks: Map<number, number> | undefined;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  read(): { text: string; spans: Span[] } {
    while (this.#at < this.#source.length) this.#step();
    return this.#result();
  }

  #step(): void {
    const source = this.#source;
    const char = source[this.#at] as string;
    if (char === "\\") return this.#escape();
    if (char === "`") return this.#code();
    if (char === "*" || char === "_" || char === "~") return this.#marks(char);
    if (char === "!" && source[this.#at + 1] === "[") return this.#bracket(2);
    if (char === "[") return this.#bracket(1);
    if (char === "]") return this.#closeBracket();
    if (char === "<" && this.#autolink()) return;
    if (char === "h" && this.#bareUrl()) return;
    PLAIN.lastIndex = this.#at;
    const plain = PLAIN.exec(source)?.[0] ?? char;
    this.#take(plain, plain.length);
  }

  /** Adds a text to the result and moves on in the source. */
  #take(text: string, length: number): void {
    this.#nodes.push({ text });
    this.#at += length;
  }

  #escape(): void {
    const next = this.#source[this.#at + 1];
    if (next === "\n") return this.#take("\n", 2);
    if (next !== undefined && ESCAPABLE.test(next)) return this.#take(next, 2);
    this.#take("\\", 1);
  }

  #code(): void {
    const source = this.#source;
    this.#nextTicks ??= nextRuns(source);
    let end = this.#at;
    while (source[end] === "`") end += 1;
    const close = this.#nextTicks.get(this.#at);
    if (close === undefined) return this.#take(source.slice(this.#at, end), end - this.#at);
    const code = source.slice(end, close).replaceAll("\n", " ");
    const isPadded = code.startsWith(" ") && code.endsWith(" ") && code.trim() !== "";
    const from = this.#nodes.length;
    this.#take(isPadded ? code.slice(1, -1) : code, close + (end - this.#at) - this.#at);
    this.#pairs.push({ kind: "code", from: from - 1, to: from + 1 });
  }

  #marks(char: "*" | "_" | "~"): void {
    const source = this.#source;
    let end = this.#at;
    while (source[end] === char) end += 1;
    const run = end - this.#at;
    const before = source[this.#at - 1];
    const after = source[end];
    const { canOpen, canClose } = flanks(char, before, after);
    this.#take("", run);
    const node = this.#nodes.length - 1;
    let left = run;
    if (char === "~" && run !== 2) {
      (this.#nodes[node] as Node).text = source.slice(end - run, end);
      return;
    }
    if (canClose) left = this.#close(char, node, left);
    (this.#nodes[node] as Node).text = char.repeat(left);
    if (canOpen && left > 0) this.#push({ char, node, left });
  }

  #push(opener: Opener): void {
    this.#openers.push(opener);
    this.#open[opener.char] += 1;
  }

  #pop(): Opener {
    const opener = this.#openers.pop() as Opener;
    this.#open[opener.char] -= 1;
    return opener;
  }

  /** Ends styles with a run of marks. @returns marks that are left */
  #close(char: "*" | "_" | "~", node: number, marks: number): number {
    let left = marks;
    while (left > 0 && this.#open[char] > 0) {
      let top = this.#openers.at(-1) as Opener;
      while (top.char !== char) {
        this.#pop();
        top = this.#openers.at(-1) as Opener;
      }
      const used = top.left >= 2 && left >= 2 ? 2 : 1;
      const kind = char === "~" ? "strike" : used === 2 ? "bold" : "italic";
      this.#pairs.push({ kind, from: top.node, to: node });
      top.left -= used;
      left -= used;
      (this.#nodes[top.node] as Node).text = char.repeat(top.left);
      if (top.left === 0) this.#pop();
    }
    return left;
  }

  #bracket(length: 1 | 2): void {
    this.#take(length === 2 ? "![" : "[", length);
    this.#push({ char: "[", node: this.#nodes.length - 1, left: 1 });
  }

  #closeBracket(): void {
    if (this.#open["["] === 0) return this.#take("]", 1);
    while (this.#openers.at(-1)?.char !== "[") this.#pop();
    const { node } = this.#pop();
    const target = this.#source[this.#at + 1] === "(" ? linkTarget(this.#source, this.#at + 2) : undefined;
    if (!target) return this.#take("]", 1);
    (this.#nodes[node] as Node).text = "";
    this.#take("", target.end - this.#at);
    this.#pairs.push({ kind: "link", from: node, to: this.#nodes.length - 1, href: target.href });
  }

  #autolink(): boolean {
    AUTOLINK.lastIndex = this.#at;
    const found = AUTOLINK.exec(this.#source);
    if (!found) return false;
    const href = found[1] as string;
    const from = this.#nodes.length;
    this.#take(href, found[0].length);
    this.#pairs.push({ kind: "link", from: from - 1, to: from + 1, href });
    return true;
  }

  /** An address is one word: the underscores in it are no marks. */
  #bareUrl(): boolean {
    if (/\w/.test(this.#source[this.#at - 1] ?? " ")) return false;
    BARE_URL.lastIndex = this.#at;
    const found = BARE_URL.exec(this.#source)?.[0];
    if (found === undefined) return false;
    let end = found.length;
    while (end > 0 && "*_~.,;:!?'|)".includes(found[end - 1] as string)) end -= 1;
    this.#take(found.slice(0, end), end);
    return true;
  }

  #result(): { text: string; spans: Span[] } {
    const starts = [0];
    for (const { text } of this.#nodes) starts.push((starts.at(-1) as number) + text.length);
    const spans = this.#pairs.flatMap(({ kind, from, to, href }) => {
      const [start, end] = [starts[from + 1] as number, starts[to] as number];
      return end > start ? [{ kind, start, end, ...(href === undefined ? {} : { href }) }] : [];
    });
    // A pair that was found later and covers the same text stands around the earlier one.
    return {
      text: this.#nodes.map(({ text }) => text).join(""),
      spans: spans.reverse().sort((a, b) => a.start - b.start || b.end - a.end),
    };
  }
}

/** Whether a run of marks may begin or end a style, by the characters beside it. Underscores inside a word are part of the word. */
function flanks(char: string, before: string | undefined, after: string | undefined): { canOpen: boolean; canClose: boolean } {
  const canOpen = !isBlank(after);
  const canClose = !isBlank(before);
  if (char !== "_") return { canOpen, canClose };
  return { canOpen: canOpen && isEdge(before), canClose: canClose && isEdge(after) };
}

function isBlank(char: string | undefined): boolean {
  return char === undefined || /\s/.test(char);
}

function isEdge(char: string | undefined): boolean {
  return isBlank(char) || PUNCTUATION.test(char as string);
}

/** The next run of as many backticks, for each run. */
function nextRuns(source: string): Map<number, number> {
  const next = new Map<number, number>();
  const last = new Map<number, number>();
  for (const { index, 0: run } of source.matchAll(/`+/g)) {
    const before = last.get(run.length);
    if (before !== undefined) next.set(before, index);
    last.set(run.length, index);
  }
  return next;
}

/** Address and end of `(address "title")`, from behind the parenthesis. Parentheses within it may be one deep. */
function linkTarget(source: string, start: number): { href: string; end: number } | undefined {
  const isInAngles = source[start] === "<";
  let depth = 0;
  let at = isInAngles ? start + 1 : start;
  for (; at < source.length && at - start <= MAX_HREF_CHARS; at++) {
    const char = source[at] as string;
    if (isInAngles ? char === ">" : /\s/.test(char)) break;
    if (char === "\n" || char === "<") return undefined;
    if (isInAngles) continue;
    if (char === "(" && ++depth > 1) return undefined;
    if (char === ")" && --depth < 0) break;
  }
  const href = source.slice(isInAngles ? start + 1 : start, at);
  if (!LINK_SCHEME.test(href)) return undefined;
  if (isInAngles) at += 1;
  const rest = /\s*(?:"[^"\n]{0,500}"\s*)?\)/y;
  rest.lastIndex = at;
  const end = rest.exec(source);
  return end ? { href, end: at + end[0].length } : undefined;
}
