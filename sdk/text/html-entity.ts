/** Names that stand for something a marker or a control token is made of; the characters as they look. */
const named: Readonly<Record<string, string>> = {
  ...{ lt: "<", gt: ">", LT: "<", GT: ">", Lt: "<<", Gt: ">>", ll: "<<", gg: ">>", Ll: "<<<", Gg: ">>>" },
  ...{ lang: "<", rang: ">", langle: "<", rangle: ">", laquo: "<", raquo: ">", lsaquo: "<", rsaquo: ">", Lang: "<", Rang: ">" },
  ...{ lowbar: "_", UnderBar: "_", nbsp: " ", Tab: " ", NewLine: " ", ensp: " ", emsp: " ", thinsp: " ", numsp: " " },
  ...{ shy: "", zwj: "", zwnj: "", ZeroWidthSpace: "", NoBreak: "", lrm: "", rlm: "" },
  ...{ quot: '"', QUOT: '"', apos: "'", equals: "=", sol: "/", bsol: "\\", vert: "|", verbar: "|", VerticalLine: "|" },
  ...{ lsqb: "[", lbrack: "[", rsqb: "]", rbrack: "]" },
};
const names = new Map(Object.entries(named));
const MAX_NAME = 14;
const MAX_DIGITS = 8;
/** `&amp;amp;lt;`: how often one entity is looked for inside another. */
const MAX_NESTING = 4;

/** Meaning of an HTML entity, and its end. */
export interface Entity {
  /** A character by its number, to be judged like any other. */
  codePoint?: number;
  /** Text of a named entity. */
  text?: string;
  end: number;
}

/** The entity that begins with the `&` at `at`, also one that was escaped again; constant work. */
export function htmlEntityAt(text: string, at: number): Entity | undefined {
  let from = at + 1;
  for (let nesting = 0; nesting < MAX_NESTING; nesting += 1) {
    if (text.startsWith("amp;", from)) from += 4;
    else if (text.startsWith("#38;", from)) from += 4;
    else break;
  }
  return text.charCodeAt(from) === 35 ? numbered(text, from + 1) : byName(text, from);
}

function numbered(text: string, at: number): Entity | undefined {
  const isHex = (text.charCodeAt(at) | 32) === 120;
  const from = isHex ? at + 1 : at;
  let end = from;
  let codePoint = 0;
  for (; end - from < MAX_DIGITS; end += 1) {
    const digit = digitOf(text.charCodeAt(end), isHex);
    if (digit < 0) break;
    codePoint = codePoint * (isHex ? 16 : 10) + digit;
  }
  if (end === from || codePoint > 0x10ffff) return undefined;
  return { codePoint, end: text.charCodeAt(end) === 59 ? end + 1 : end };
}

function digitOf(unit: number, isHex: boolean): number {
  if (unit >= 48 && unit <= 57) return unit - 48;
  const letter = unit | 32;
  return isHex && letter >= 97 && letter <= 102 ? letter - 87 : -1;
}

function byName(text: string, from: number): Entity | undefined {
  let end = from;
  while (end - from < MAX_NAME && isLetter(text.charCodeAt(end))) end += 1;
  if (text.charCodeAt(end) === 59) {
    const known = names.get(text.slice(from, end));
    return known === undefined ? undefined : { text: known, end: end + 1 };
  }
  // Browsers take these two without a semicolon, whatever follows.
  const second = text.charCodeAt(from + 1) | 32;
  if (second !== 116) return undefined;
  const first = text.charCodeAt(from) | 32;
  return first === 108 ? { text: "<", end: from + 2 } : first === 103 ? { text: ">", end: from + 2 } : undefined;
}

function isLetter(unit: number): boolean {
  const letter = unit | 32;
  return letter >= 97 && letter <= 122;
}
