import { lookAlike } from "./homoglyphs.ts";
import { htmlEntityAt } from "./html-entity.ts";

/** A text as it looks to a reader, for matching only. */
export interface Folded {
  text: string;
  /** Nothing had to be folded: `text` is the original. */
  isSame: boolean;
  /**
   * Where parts of `text` stand in the original: for each part, whose `start` and `end` (at least one unit later) grow from one to the next, the same of
   * the original. What is invisible at either end of a part does not belong to it.
   */
  origins(parts: ReadonlyArray<{ start: number; end: number }>): Array<{ start: number; end: number }>;
}

/** Longest text that one character may stand for; longer ones hold nothing that is looked for. */
const MAX_EXPANSION = 4;
/** Entries of the table that are no form; 0 is a unit that was not met yet. */
const INVISIBLE = -1;
const SEVERAL = -2;
/** `&`, and the first half of a character beyond the first plane: what follows decides. */
const LONGER = -3;
const AMPERSAND = 0x26;
const NUMBER_SIGN = 0x23;

/** Table by UTF-16 unit: its form plus one, or one of the above. Filled as characters are met: each is judged once, whatever texts it comes in. */
let table: Int32Array | undefined;
/** Forms of more than one unit, and of characters beyond the first plane that have one; their number is limited by Unicode. */
const several = new Map<number, string>();

/**
 * Folds look-alikes: full-width and other compatibility forms (NFKC), homoglyphs of other scripts, accents, HTML entities; what is invisible is left out.
 * Takes time and memory in proportion to the text.
 */
export function foldLookAlikes(text: string): Folded {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: invisible characters hide here as well
  if (!/[&\u0000-\u0008\u000e-\u001f\u007f-\uffff]/.test(text)) return { text, isSame: true, origins: (parts) => [...parts] };
  table ??= newTable();
  let units = new Uint16Array(text.length + 256);
  let length = 0;
  for (let at = 0; at < text.length; ) {
    const unit = text.charCodeAt(at);
    const known = table[unit] || learn(unit);
    if (known > 0) {
      units[length++] = known - 1;
      at += 1;
    } else if (known === INVISIBLE) at += 1;
    else if (isBareAmpersand(text, at)) {
      units[length++] = AMPERSAND;
      at += 1;
    } else {
      const { form, end } = known === SEVERAL ? { form: several.get(unit) as string, end: at + 1 } : longerForm(text, at);
      if (length + form.length + text.length - end > units.length) units = grown(units);
      for (let i = 0; i < form.length; i += 1) units[length++] = form.charCodeAt(i);
      at = end;
    }
  }
  const folded = new TextDecoder("utf-16le", { ignoreBOM: true }).decode(units.subarray(0, length));
  return { text: folded, isSame: false, origins: (parts) => originsOf(text, parts) };
}

function grown(units: Uint16Array<ArrayBuffer>): Uint16Array<ArrayBuffer> {
  const larger = new Uint16Array(units.length * 2);
  larger.set(units);
  return larger;
}

/** Most that are no entity can be told by the next character. */
function isBareAmpersand(text: string, at: number): boolean {
  if (text.charCodeAt(at) !== AMPERSAND) return false;
  const next = text.charCodeAt(at + 1);
  const letter = next | 32;
  return next !== NUMBER_SIGN && !(letter >= 0x61 && letter <= 0x7a);
}

/** Walks the text again: most texts have nothing to look for, and a map of every unit would cost more than the walk. */
function originsOf(text: string, parts: ReadonlyArray<{ start: number; end: number }>): Array<{ start: number; end: number }> {
  const found: Array<{ start: number; end: number }> = [];
  let at = 0;
  let length = 0;
  for (const part of parts) {
    let start = -1;
    while (length < part.end && at < text.length) {
      const next = stepAt(text, at);
      length += next.size;
      if (next.size > 0 && length > part.start && start < 0) start = at;
      at = next.end;
    }
    found.push({ start: start < 0 ? at : start, end: at });
  }
  return found;
}

/** Returns the number of units the character or entity at `at` is folded to, and where it ends. */
function stepAt(text: string, at: number): { size: number; end: number } {
  const unit = text.charCodeAt(at);
  const known = (table as Int32Array)[unit] as number;
  if (known > 0 || isBareAmpersand(text, at)) return { size: 1, end: at + 1 };
  if (known === INVISIBLE) return { size: 0, end: at + 1 };
  if (known === SEVERAL) return { size: (several.get(unit) as string).length, end: at + 1 };
  const { form, end } = longerForm(text, at);
  return { size: form.length, end };
}

function newTable(): Int32Array {
  const fresh = new Int32Array(0x10000);
  for (let unit = 0; unit < 0x10000; unit += 1) if (!isFoldable(unit)) fresh[unit] = unit + 1;
  for (let unit = 0xd800; unit <= 0xdbff; unit += 1) fresh[unit] = LONGER;
  fresh[AMPERSAND] = LONGER;
  return fresh;
}

/** Plain ASCII stands for itself, as do blanks; nothing looks like ASCII among ideographs, Hangul syllables and private characters. */
function isFoldable(unit: number): boolean {
  if (unit < 0x7f) return unit < 0x09 || (unit > 0x0d && unit < 0x20);
  return !((unit >= 0x3400 && unit <= 0x9fff) || (unit >= 0xac00 && unit <= 0xf8ff));
}

/** Judges a unit that was not met before. */
function learn(unit: number): number {
  const form = plainForm(String.fromCharCode(unit));
  const known = form.length === 1 ? form.charCodeAt(0) + 1 : form === "" ? INVISIBLE : SEVERAL;
  if (known === SEVERAL) several.set(unit, form);
  (table as Int32Array)[unit] = known;
  return known;
}

/** The form of the entity or of the character beyond the first plane at `at`, and where that ends. */
function longerForm(text: string, at: number): { form: string; end: number } {
  if (text.charCodeAt(at) !== AMPERSAND) {
    const codePoint = text.codePointAt(at) as number;
    return { form: formOf(codePoint), end: at + (codePoint > 0xffff ? 2 : 1) };
  }
  const entity = htmlEntityAt(text, at);
  if (!entity) return { form: "&", end: at + 1 };
  return { form: entity.codePoint === undefined ? (entity.text ?? "") : formOf(entity.codePoint), end: entity.end };
}

function formOf(codePoint: number): string {
  if (codePoint > 0xffff) return astralForm(codePoint);
  const known = (table as Int32Array)[codePoint] || learn(codePoint);
  if (known > 0) return String.fromCharCode(known - 1);
  if (known === SEVERAL) return several.get(codePoint) as string;
  return known === INVISIBLE ? "" : String.fromCharCode(codePoint);
}

/** Letters in mathematical, boxed and circled shapes and as flags; tags and selectors, which nobody sees. */
function astralForm(codePoint: number): string {
  if (codePoint >= 0xe0000 && codePoint <= 0xe0fff) return "";
  if (codePoint >= 0x1f150 && codePoint <= 0x1f169) return String.fromCharCode(codePoint - 0x1f150 + 0x61);
  if (codePoint >= 0x1f170 && codePoint <= 0x1f189) return String.fromCharCode(codePoint - 0x1f170 + 0x61);
  if (codePoint >= 0x1f1e6 && codePoint <= 0x1f1ff) return String.fromCharCode(codePoint - 0x1f1e6 + 0x61);
  const isLetter = (codePoint >= 0x1d400 && codePoint <= 0x1d7ff) || (codePoint >= 0x1f100 && codePoint <= 0x1f14f);
  if (!isLetter) return String.fromCodePoint(codePoint);
  let form = several.get(codePoint);
  if (form === undefined) {
    form = plainForm(String.fromCodePoint(codePoint));
    several.set(codePoint, form);
  }
  return form;
}

/** The form of one character: decomposed, without marks and what is invisible, look-alikes replaced. Itself when that is no short ASCII text. */
function plainForm(character: string): string {
  const alike = lookAlike(character);
  if (alike !== undefined) return alike;
  const bare = character.normalize("NFKD").replace(/[\p{M}\p{Cf}\p{Cc}\p{Default_Ignorable_Code_Point}]/gu, "");
  const form = [...bare].map((part) => lookAlike(part) ?? part).join("");
  if (form.length <= 1) return form;
  return form.length <= MAX_EXPANSION && !/[\u0080-\uffff]/.test(form) ? form : character;
}
