import type { Database } from "./database.ts";
import { languageStem, type StemLanguage } from "./stem.ts";

/** The words of an index, without accents and in lower case, as its tokenizer cut them. */
export interface Vocabulary {
  /** Passages that have the word. */
  count(word: string): number;
  /** Other words of the index with the same stem in one of the languages, those in most passages first. */
  formsOf(word: string, languages: readonly StemLanguage[]): string[];
  /** Words of the index that are a misspelling away, those in most passages of the nearest ones first. */
  nearTo(word: string): string[];
}

const MAX_FORMS = 5;
const MAX_NEAR = 3;
/** Bounds of reading for one question: words, and passages of these words, which the database counts one by one. A bound of time would give other answers on a busy machine. */
const MAX_WORDS = 20_000;
const MAX_PASSAGES = 200_000;
/** Words shorter than this are not taken for misspelt; longer ones than the second number may have two mistakes. */
const SHORTEST_MISSPELT = 4;
const TWO_MISTAKES_FROM = 8;
/** First letters that the stem of a word and its forms share. */
const SHARED = 3;
const afterAll = "\u{10ffff}";

/** Reads the words of the text table, for one question, whose bounds are counted from here. */
export function openVocabulary(db: Database): Vocabulary {
  db.exec("CREATE VIRTUAL TABLE IF NOT EXISTS temp.chunk_words USING fts5vocab(main, chunks_fts, row)");
  const one = db.prepare("SELECT doc FROM temp.chunk_words WHERE term = ?").pluck();
  const between = db.prepare("SELECT term, doc FROM temp.chunk_words WHERE term >= ? AND term < ?");
  /** Counts of this question's words: each is asked for several times, and a common one takes a millisecond. */
  const counts = new Map<string, number>();
  let words = MAX_WORDS;
  let passages = MAX_PASSAGES;
  const read = function* (prefix: string): Generator<Counted> {
    if (words <= 0 || passages <= 0) return;
    for (const row of between.iterate(prefix, `${prefix}${afterAll}`) as IterableIterator<Counted>) {
      yield row;
      words -= 1;
      passages -= row.doc;
      if (words <= 0 || passages <= 0) return;
    }
  };
  return {
    count(word) {
      const folded = foldWord(word);
      const count = counts.get(folded) ?? Number(one.get(folded) ?? 0);
      counts.set(folded, count);
      return count;
    },
    formsOf(word, languages) {
      const folded = foldWord(word);
      if (folded.length < SHARED) return [];
      const found = new Map<string, number>();
      for (const language of languages) {
        const stem = languageStem(folded, language);
        const start = stem.length >= SHARED ? stem : folded;
        for (const { term, doc } of read(start)) if (term !== folded && languageStem(term, language) === stem) found.set(term, doc);
      }
      return mostFirst(found).slice(0, MAX_FORMS);
    },
    nearTo(word) {
      const folded = foldWord(word);
      if (folded.length < SHORTEST_MISSPELT || /\d/.test(folded)) return [];
      const most = folded.length >= TWO_MISTAKES_FROM ? 2 : 1;
      const near: Array<Map<string, number>> = [new Map(), new Map()];
      for (const start of startsOf(folded)) {
        for (const { term, doc } of read(start)) {
          const distance = mistakesBetween(folded, term, most);
          if (distance > 0 && distance <= most) near[distance - 1]?.set(term, doc);
        }
      }
      return mostFirst(near.find((some) => some.size > 0) ?? new Map()).slice(0, MAX_NEAR);
    },
  };
}

interface Counted {
  term: string;
  doc: number;
}

/** The first two letters, and what they were before they were swapped. */
function startsOf(word: string): string[] {
  const [first = "", second = "", third = ""] = word;
  return [...new Set([first + second, second + first, first + third])];
}

function mostFirst(words: ReadonlyMap<string, number>): string[] {
  return [...words].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).map(([word]) => word);
}

/** A word as the index has it. */
export function foldWord(word: string): string {
  return word
    .normalize("NFD")
    .replace(/\p{Mn}/gu, "")
    .normalize("NFC")
    .toLowerCase();
}

/** Letters added, left out, changed or swapped with their neighbour between two words; more than `most` is told as one more. */
export function mistakesBetween(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most || a.length > 64) return most + 1;
  let older: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let row = 1; row <= a.length; row++) {
    const next = [row];
    let least = row;
    for (let at = 1; at <= b.length; at++) {
      const changed = a[row - 1] === b[at - 1] ? 0 : 1;
      let cost = Math.min((last[at] ?? 0) + 1, (next[at - 1] ?? 0) + 1, (last[at - 1] ?? 0) + changed);
      if (row > 1 && at > 1 && a[row - 1] === b[at - 2] && a[row - 2] === b[at - 1]) cost = Math.min(cost, (older[at - 2] ?? 0) + 1);
      next.push(cost);
      least = Math.min(least, cost);
    }
    if (least > most) return most + 1;
    older = last;
    last = next;
  }
  return Math.min(most + 1, last[b.length] ?? 0);
}
