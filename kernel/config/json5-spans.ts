import { parseJson5 } from "./parse-json5.ts";

/** Position of a value in JSON5 text: offsets of its first character and of the one after its last. */
export type Span =
  | { kind: "object"; start: number; end: number; members: MemberSpan[] }
  | { kind: "array"; start: number; end: number; elements: Span[] }
  | { kind: "scalar"; start: number; end: number };

/** One `name: value` of an object; offsets. */
export interface MemberSpan {
  /** As the parser reads it, escapes resolved. */
  name: string;
  /** Start of the name, quotes included. */
  start: number;
  nameEnd: number;
  value: Span;
}

/**
 * The layout of text that a JSON5 parser has accepted already: which characters are which value. It looks for strings, comments and brackets
 * only, so that it cannot disagree with that parser about numbers and names.
 * @throws {Error} when the text is no JSON5 after all
 */
export function json5Spans(text: string): Span {
  let at = 0;

  const fail = (): never => {
    throw new Error(`not JSON5 at offset ${at}`);
  };
  const skip = () => {
    at = skipBlank(text, at);
  };
  const value = (): Span => {
    skip();
    const start = at;
    const first = text[at];
    if (first === "{") return object(start);
    if (first === "[") return array(start);
    at = scalarEnd(text, at);
    return at > start ? { kind: "scalar", start, end: at } : fail();
  };
  const object = (start: number): Span => {
    const members: MemberSpan[] = [];
    at += 1;
    for (skip(); text[at] !== "}"; skip()) {
      const nameStart = at;
      at = scalarEnd(text, at);
      if (at === nameStart) fail();
      const nameEnd = at;
      skip();
      if (text[at] !== ":") fail();
      at += 1;
      const inner = value();
      members.push({ name: nameOf(text.slice(nameStart, nameEnd)), start: nameStart, nameEnd, value: inner });
      afterItem("}");
    }
    at += 1;
    return { kind: "object", start, end: at, members };
  };
  const array = (start: number): Span => {
    const elements: Span[] = [];
    at += 1;
    for (skip(); text[at] !== "]"; skip()) {
      elements.push(value());
      afterItem("]");
    }
    at += 1;
    return { kind: "array", start, end: at, elements };
  };
  const afterItem = (close: string) => {
    skip();
    if (text[at] === ",") at += 1;
    else if (text[at] !== close) fail();
  };

  const root = value();
  skip();
  return at === text.length ? root : fail();
}

/** The offset of the first character from `at` on that is neither white space nor in a comment. */
export function skipBlank(text: string, at: number): number {
  let i = at;
  for (;;) {
    while (i < text.length && /\s/.test(text[i] as string)) i += 1;
    const next = commentEnd(text, i);
    if (next === i) return i;
    i = next;
  }
}

/** The end of the comment that begins at `at`, line break not included; `at` itself when none begins there. */
export function commentEnd(text: string, at: number): number {
  if (text.startsWith("//", at)) {
    const rest = text.slice(at).search(/[\n\r\u2028\u2029]/);
    return rest < 0 ? text.length : at + rest;
  }
  if (!text.startsWith("/*", at)) return at;
  const close = text.indexOf("*/", at + 2);
  return close < 0 ? text.length : close + 2;
}

function scalarEnd(text: string, start: number): number {
  const quote = text[start];
  let at = start;
  if (quote === '"' || quote === "'") {
    for (at += 1; at < text.length && text[at] !== quote; at += 1) if (text[at] === "\\") at += 1;
    return at + 1;
  }
  while (at < text.length && !/[\s,:{}[\]"'/]/.test(text[at] as string)) at += 1;
  return at;
}

function nameOf(literal: string): string {
  if (/^["']/.test(literal)) return String(parseJson5(literal));
  return literal.replace(/\\u([0-9a-fA-F]{4})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
