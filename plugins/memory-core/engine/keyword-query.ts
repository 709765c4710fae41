import type { Tokenizer } from "../index-settings.ts";
import { hasCjk } from "./cjk.ts";
import { extractKeywords } from "./keywords.ts";
import type { TermGroup } from "./query-terms.ts";
import { stemOf } from "./stem.ts";

/** One question to the index: an FTS5 expression and terms that need `LIKE`. `all`: everything must match; `any`: something. */
export interface TermQuery {
  mode: "all" | "any";
  /** Quoted words joined by the operator, for `any` their forms, too; nothing of the user's text is outside quotes. */
  match: string | undefined;
  /** The words of `match`, each quoted. */
  quoted: string[];
  /** The rest of `match`: pairs of the words, and prefixes. */
  forms: string[];
  /** Plain terms, not yet escaped. */
  like: string[];
}

export interface KeywordPlan {
  strict: TermQuery | undefined;
  loose: TermQuery | undefined;
  /** The keywords with all that counts as them; empty where the index has no words. */
  groups: TermGroup[];
}

/** A longer question is cut: terms, patterns and SQL stay small whatever comes in. */
export const MAX_QUERY_CHARS = 4_096;
const MAX_MATCH_TERMS = 64;
const MAX_LIKE_TERMS = 32;
const tokens = /[\p{L}\p{N}_]+/gu;
const shortestTrigram = 3;

/**
 * The two steps of a keyword search: all words of the question, then any of its keywords.
 * @param expand finds what else counts as the keywords of a text; without it their beginnings do
 */
export function planKeywords(
  query: string,
  tokenizer: Tokenizer,
  expand?: (text: string, words: readonly string[]) => TermGroup[],
): KeywordPlan {
  const text = query.slice(0, MAX_QUERY_CHARS).normalize("NFC");
  const all = [...new Map((text.match(tokens) ?? []).map((token) => [token.toLowerCase(), token])).values()];
  const strict = termQuery("all", all, tokenizer);
  const keywords = termQuery("any", extractKeywords(text, tokenizer), tokenizer);
  const groups = keywords?.match !== undefined && tokenizer !== "trigram" && expand ? expand(text, wordsOf(keywords)) : [];
  const loose = withForms(keywords, text, { tokenizer, groups });
  return { strict, loose: isSame(strict, loose) ? undefined : loose, groups };
}

/** The words of a query without their quotes. */
function wordsOf({ quoted }: TermQuery): string[] {
  return quoted.map((word) => word.slice(1, -1));
}

/** An expression that any of these terms fulfils. */
export function anyOf(terms: readonly string[]): string {
  return terms.join(" OR ");
}

/** A pattern that finds `term` anywhere, with nothing in it special. Used with `ESCAPE '\'`. */
export function likePattern(term: string): string {
  return `%${term.replace(/[\\%_]/g, (c) => `\\${c}`)}%`;
}

function termQuery(mode: TermQuery["mode"], terms: readonly string[], tokenizer: Tokenizer): TermQuery | undefined {
  const like = terms.filter((term) => needsLike(term, tokenizer)).slice(0, MAX_LIKE_TERMS);
  const quoted = terms
    .filter((term) => !needsLike(term, tokenizer) && /[\p{L}\p{N}]/u.test(term))
    .slice(0, MAX_MATCH_TERMS)
    .map((term) => `"${term}"`);
  if (quoted.length === 0 && like.length === 0) return undefined;
  return { mode, match: quoted.length > 0 ? (mode === "all" ? quoted.join(" AND ") : anyOf(quoted)) : undefined, quoted, forms: [], like };
}

/**
 * Adds what makes a chunk better than one with the same words: words that stand side by side as in the question, and other forms of the words as prefixes beside
 * the words themselves, so that the very word gains twice. One disjunction all the same: `bm25` weighs everything at once. `trigram` finds parts of words anyway.
 */
function withForms(
  query: TermQuery | undefined,
  text: string,
  { tokenizer, groups }: { tokenizer: Tokenizer; groups: readonly TermGroup[] },
): TermQuery | undefined {
  if (query?.match === undefined || tokenizer === "trigram") return query;
  const words = wordsOf(query);
  const beginnings = groups.length > 0 ? groups.map(({ beginning }) => beginning) : words.map(stemOf);
  const starts = [...new Set(beginnings)].flatMap((start) => (start === undefined ? [] : `"${start}"*`));
  const more = [...pairsOf(text, new Set(words)), ...starts, ...otherForms(groups)];
  const forms = more.slice(0, MAX_MATCH_TERMS - words.length);
  return { ...query, match: anyOf([...query.quoted, ...forms]), forms };
}

/** Forms that the beginnings do not find. */
function otherForms(groups: readonly TermGroup[]): string[] {
  const forms = groups.flatMap(({ word, forms, beginning }) =>
    [...forms.keys()].filter((form) => form !== word && !(beginning !== undefined && form.startsWith(beginning))),
  );
  return [...new Set(forms)].map((form) => `"${form}"`);
}

function pairsOf(text: string, keywords: ReadonlySet<string>): string[] {
  const sequence = text.toLowerCase().match(tokens) ?? [];
  const pairs = sequence.slice(1).flatMap((word, index) => {
    const before = sequence[index] ?? "";
    return keywords.has(before) && keywords.has(word) ? [`"${before} ${word}"`] : [];
  });
  return [...new Set(pairs)];
}

/** `unicode61` keeps an unspaced run as one token; `trigram` knows nothing shorter than three characters. */
function needsLike(term: string, tokenizer: Tokenizer): boolean {
  return tokenizer === "trigram" ? [...term].length < shortestTrigram : hasCjk(term);
}

/** A single term without other forms asks the same thing both ways. */
function isSame(a: TermQuery | undefined, b: TermQuery | undefined): boolean {
  if (b?.match !== undefined && b.match !== b.quoted[0]) return false;
  const count = (q: TermQuery | undefined) => (q ? q.quoted.length + q.like.length : 0);
  if (count(a) !== 1 || count(b) !== 1) return false;
  return `${a?.quoted[0]}${a?.like[0]}`.toLowerCase() === `${b?.quoted[0]}${b?.like[0]}`.toLowerCase();
}
