import type { Database } from "./database.ts";
import type { TermQuery } from "./keyword-query.ts";
import { prepared } from "./prepared.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** The terms of a disjunction by how many chunks have them. */
export interface SiftedTerms {
  /** Few chunks have them: only these chunks need be ranked. */
  telling: string[];
  /** Terms in many chunks; they weigh a little in those that are ranked. */
  weighing: string[];
  /** Terms in more than half of the chunks, where `bm25` gives them no weight at all. */
  idle: string[];
  /** Each word is in more than a fifth of the chunks. */
  isAllCommon: boolean;
}

/** A term in more than this share of the chunks tells nothing apart. */
const COMMON_SHARE = 0.2;
export const IDLE_SHARE = 0.5;
/** Chunks that all telling terms together may be in, beyond those of the rarest. */
const TELLING_CHUNKS = 10_000;

interface Counted {
  term: string;
  /** Counted up to half of the chunks. */
  chunks: number;
  /** Terms that none of the words brings. */
  more: number;
  isWord: boolean;
}

export interface SiftScope {
  db: Database;
  vocabulary: Pick<Vocabulary, "count">;
  /** Chunks in the index. */
  chunks: number;
}

/** Undefined when a part of the question is looked for by reading the texts: then that is what takes time. */
export function siftTerms({ db, vocabulary, chunks }: SiftScope, { quoted, forms, like }: TermQuery): SiftedTerms | undefined {
  if (like.length > 0 || quoted.length === 0) return undefined;
  const half = Math.floor(chunks * IDLE_SHARE);
  const find = prepared(db, "SELECT count(*) FROM (SELECT 1 FROM chunks_fts WHERE chunks_fts MATCH ? LIMIT ?)").pluck();
  const words = quoted.map((term): Counted => {
    // The list of words has none that the tokenizer cuts in two.
    const found = Math.min(vocabulary.count(term.slice(1, -1)) || Number(find.get(term, half + 1)), half + 1);
    return { term, chunks: found, more: found, isWord: true };
  });
  const idle = new Set(words.filter((word) => word.chunks > half).map((word) => word.term));
  const countForm = (term: string): Counted => {
    const found = Number(find.get(term, half + 1));
    const known = words.filter((word) => term.endsWith("*") && word.term.startsWith(term.slice(0, -2)));
    return { term, chunks: found, more: found - known.reduce((sum, word) => sum + word.chunks, 0), isWord: false };
  };
  // Two words that are everywhere take long to find side by side, and are so nearly everywhere, too.
  const isIdlePair = (form: string) => !form.endsWith("*") && wordsOf(form).every((word) => idle.has(word));
  const counted = [...words, ...forms.filter((form) => !isIdlePair(form)).map(countForm)].sort((a, b) => a.chunks - b.chunks);
  const some = counted.filter((one) => one.chunks > 0 && one.chunks <= half);
  const telling = tellingOf(some, chunks);
  return {
    telling,
    weighing: termsOf(some.slice(telling.length)),
    idle: [...idle],
    isAllCommon: words.every((word) => word.chunks > chunks * COMMON_SHARE),
  };
}

/** The rarest ones, a word at least: rows with a pair alone would hide those with its words apart. @param counted rarest first */
function tellingOf(counted: readonly Counted[], chunks: number): string[] {
  let total = 0;
  let hasWord = false;
  const end = counted.findIndex(({ chunks: found, more, isWord }) => {
    total += Math.max(0, more);
    if (hasWord && (found > chunks * COMMON_SHARE || total > TELLING_CHUNKS)) return true;
    hasWord ||= isWord;
    return false;
  });
  return termsOf(end === -1 ? counted : counted.slice(0, end));
}

function termsOf(counted: readonly Counted[]): string[] {
  return counted.map((one) => one.term);
}

function wordsOf(pair: string): string[] {
  return pair
    .slice(1, -1)
    .split(" ")
    .map((word) => `"${word}"`);
}
