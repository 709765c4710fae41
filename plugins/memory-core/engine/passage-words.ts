import type { TermGroup } from "./query-terms.ts";
import { foldWord } from "./vocabulary.ts";

/** One place of a word in a text. */
export interface WordPlace {
  /** Offset in the folded text. */
  at: number;
  /** Weight of the form that is there. */
  weight: number;
}

/** Places of one form in one text; more say nothing more. */
const MAX_PLACES = 16;

/** Lower case without accents, as the index compares. */
function foldText(text: string): string {
  return /^\p{ASCII}*$/u.test(text) ? text.toLowerCase() : foldWord(text);
}

/** Weight of a word that only begins as one of the question does, or is a part of a name in camel case. */
const PART_WEIGHT = 0.4;

/** A text to look for words in. */
export interface FoldedText {
  folded: string;
  /** The text itself when each of its characters is at the same place in `folded`. */
  original: string | undefined;
}

export function foldedText(text: string): FoldedText {
  const folded = foldText(text);
  return { folded, original: folded.length === text.length ? text : undefined };
}

/** Where a text has the words of a group: one of its forms, another word with its beginning, a part of a name. */
export function placesOf(text: FoldedText, { forms, beginning }: Pick<TermGroup, "forms" | "beginning">): WordPlace[] {
  const roots = [...forms.keys()].filter((form) => beginning === undefined || !form.startsWith(beginning));
  if (beginning !== undefined) roots.push(beginning);
  const { folded } = text;
  const places: WordPlace[] = [];
  for (const root of roots) {
    let left = MAX_PLACES;
    for (let at = folded.indexOf(root); at >= 0 && left > 0; at = folded.indexOf(root, at + root.length)) {
      const weight = weightAt(text, { at, root, forms, beginning });
      if (weight === 0) continue;
      places.push({ at, weight });
      left--;
    }
  }
  return places;
}

interface Spot extends Pick<TermGroup, "forms" | "beginning"> {
  at: number;
  root: string;
}

function weightAt({ folded, original }: FoldedText, { at, root, forms, beginning }: Spot): number {
  const isStart = !isWordPart(folded.charAt(at - 1));
  if (!isStart && !(original && isCapital(original.charAt(at)) && !isCapital(original.charAt(at - 1)))) return 0;
  let end = at + root.length;
  while (isWordPart(folded.charAt(end))) end++;
  const whole = isStart ? forms.get(folded.slice(at, end)) : undefined;
  return whole ?? (root === beginning || !isStart ? PART_WEIGHT : 0);
}

function isCapital(character: string): boolean {
  return character >= "A" && character <= "Z";
}

/** Offsets of the heading lines of a Markdown text; lines in code fences are none. */
export function headingRanges(text: string): Array<[start: number, end: number]> {
  const ranges: Array<[number, number]> = [];
  let isCode = false;
  for (let start = 0; start < text.length; ) {
    const found = text.indexOf("\n", start);
    const end = found < 0 ? text.length : found;
    if (text.startsWith("```", start)) isCode = !isCode;
    else if (!isCode && text.charAt(start) === "#" && /^#{1,6}[ \t]/.test(text.slice(start, start + 7))) ranges.push([start, end]);
    start = end + 1;
  }
  return ranges;
}

const letterOrDigit = /[\p{L}\p{N}]/u;

function isWordPart(character: string): boolean {
  const code = character.charCodeAt(0);
  if (code < 128) return (code >= 97 && code <= 122) || (code >= 48 && code <= 57);
  return letterOrDigit.test(character);
}
