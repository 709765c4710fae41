import { cutEnd } from "svc/sdk";

/** A statement of a note: where it stands and what it says. */
export interface Snippet {
  /** 1-based, inclusive. */
  startLine: number;
  endLine: number;
  /** One line: the heading as a prefix, then the text without list markers. */
  text: string;
  /** It came from a group, a channel or another source outside. */
  isUntrusted: boolean;
}

const MAX_LINES = 4;
const MAX_CHARS = 280;
/** A shorter text says nothing by itself. */
const MIN_CHARS = 8;
/** Notes are read up to this size; what stands behind it is left to the search. */
const MAX_NOTE_LINES = 20_000;

/** Headings that only divide a day. */
const genericHeading =
  /^(?:notes?|log|journal|diary|day|today|yesterday|tomorrow|morning|noon|afternoon|evening|night|misc|miscellaneous|other|various|todos?|tasks?|events?|summary|daily (?:note|notes|log)|\d{1,2}[:.]\d{2}.{0,6}|\d{4}-\d{2}-\d{2}.{0,40})$/i;

/** Statements of a Markdown note: each item of a list with what is indented below it, each paragraph; long ones in parts. Pure, linear in the text. */
export function snippetsOf(note: string): Snippet[] {
  const found: Snippet[] = [];
  const lines = note.split("\n", MAX_NOTE_LINES).map((line) => line.replace(/\r$/, ""));
  const state: Walk = { heading: "", group: [], hides: undefined };
  const flush = () => {
    const snippet =
      state.group.length > 0 ? snippetOf(lines, { startLine: state.group[0] as number, endLine: state.group.at(-1) as number }) : undefined;
    if (snippet) found.push(withHeading(snippet, state.heading));
    state.group = [];
  };
  for (const [index, line] of lines.entries()) walk(state, { line, number: index + 1 }, flush);
  flush();
  return found;
}

interface Walk {
  heading: string;
  /** Lines of the statement under way. */
  group: number[];
  /** End of the part that is left out: a managed block or a fence of code. */
  hides: string | undefined;
}

function walk(state: Walk, { line, number }: { line: string; number: number }, flush: () => void): void {
  const text = line.trim();
  if (state.hides !== undefined) {
    if (text.startsWith(state.hides)) state.hides = undefined;
    return;
  }
  const hides = opensHidden(text);
  if (hides !== undefined) {
    flush();
    state.hides = hides;
    return;
  }
  const heading = /^#{1,6}\s+(\S.*)$/.exec(text)?.[1];
  if (heading !== undefined) {
    flush();
    const words = cutEnd(heading, 60).replace(/[\s#:]{1,60}$/, "");
    state.heading = genericHeading.test(words) ? "" : words;
    return;
  }
  if (text === "" || isFrame(text)) return flush();
  const isItem = /^(?:[-*+]|\d{1,9}[.)])\s/.test(text);
  const isNested = /^(?:\s{2}|\t)/.test(line);
  if ((isItem && !isNested) || state.group.length >= MAX_LINES) flush();
  state.group.push(number);
}

/** First words of the line that ends what this line opens. */
function opensHidden(text: string): string | undefined {
  const name = /^<!-- (svc:[\w:-]+):start -->$/.exec(text)?.[1];
  if (name !== undefined) return `<!-- ${name}:end -->`;
  return /^(?:```|~~~)/.exec(text)?.[0];
}

/** Lines without a statement: comments, rules, and the head of a table. */
function isFrame(text: string): boolean {
  return text.startsWith("<!--") || /^(?:-{3,}|\*{3,}|_{3,}|={3,})$/.test(text) || /^\|[\s:|-]+$/.test(text);
}

/** Statement that stands on these lines; undefined when they say nothing. */
export function snippetOf(lines: readonly string[], { startLine, endLine }: { startLine: number; endLine: number }): Snippet | undefined {
  const raw = lines.slice(startLine - 1, endLine).join("\n");
  const parts = raw
    .split("\n")
    .map(plainLine)
    .filter((part) => part !== "");
  const text = cutEnd(parts.join(" "), MAX_CHARS);
  if (text.length < MIN_CHARS) return undefined;
  return { startLine, endLine, text, isUntrusted: isFromOutside(raw) };
}

/** A line of Markdown without its list marker, check box, quotation mark, the reference of a corpus line, and without what could end a comment. */
export function plainLine(line: string): string {
  return line
    .trim()
    .replace(/^\[sessions\/[^\]\s]{1,200}\]\s+/, "")
    .replace(/^(?:>\s?)+/, "")
    .replace(/^(?:[-*+]|\d{1,9}[.)])\s+/, "")
    .replace(/^\[[ xX]\]\s+/, "")
    .replace(/<!--|-->/g, "")
    .replace(/\s+/g, " ")
    .trim();
}

function withHeading(snippet: Snippet, heading: string): Snippet {
  return heading === "" ? snippet : { ...snippet, text: cutEnd(`${heading}: ${snippet.text}`, MAX_CHARS) };
}

/** `memory_append` writes where a note of a group or a webhook comes from; frames of external text have markers. */
export function isFromOutside(text: string): boolean {
  return /\(from agent:[^)\s]{1,600}\)/.test(text) || /EXTERNAL_UNTRUSTED_CONTENT|\[\[(?:END_)?MARKER_SANITIZED\]\]/.test(text);
}
