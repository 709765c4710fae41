import { hybridSearch, type VectorSide } from "../../plugins/memory-core/engine/hybrid-search.ts";
import type { SearchParams } from "../../plugins/memory-core/engine/search-types.ts";
import { findByWords } from "../../plugins/memory-core/engine/text-leg.ts";
import { addPlainTable, searchPlainly } from "../../plugins/memory-core/retrieval/plain-search.ts";
import { addToIndex, createTestIndex, type TestIndex } from "../../plugins/memory-core/test-index.ts";
import type { Corpus, Passage, Question } from "./corpora.ts";
import { judge, type Quality } from "./metrics.ts";

/** Search that a table compares: the best ten passages of an index. */
export type Engine = (index: TestIndex, query: string) => Passage[] | Promise<Passage[]>;

export const defaults: SearchParams = {
  query: "",
  maxResults: 10,
  minScore: 0.35,
  explicit: false,
  sources: ["memory"],
  candidateMultiplier: 4,
  maxSnippetChars: 700,
  hybrid: { enabled: true, vectorWeight: 0.7, textWeight: 0.3 },
  mmr: { enabled: false, lambda: 0.7 },
  temporalDecay: { enabled: false, halfLifeDays: 30 },
};

/** The product's own index over a corpus, with the table of the baseline beside it. */
export function indexOf(corpus: Pick<Corpus, "files">, vectorOf?: (text: string, path: string) => Float32Array | undefined): TestIndex {
  const index = createTestIndex();
  addToIndex(index, corpus.files, vectorOf ? { vectorOf } : {});
  addPlainTable(index.db);
  return index;
}

/** FTS5 with `OR` between the words that are no stop words, over the same passages. */
export const plain: Engine = (index, query) => searchPlainly(index.db, query, 10);

/** Keyword search of the product. */
export const builtin: Engine = (index, query) => ours(index, query, { kind: "off" });

/** Hybrid search of the product. */
export function hybrid(embedQuery: (text: string) => Promise<Float32Array>, over: Partial<SearchParams> = {}): Engine {
  return (index, query) => ours(index, query, { kind: "ready", embedQuery }, over);
}

/** Both retrievers joined by reciprocal ranks instead of scores: a passage counts 1 / (60 + its place) of each. */
export function byRanks(embedQuery: (text: string) => Promise<Float32Array>): Engine {
  return async (index, query) => {
    const { db, tokenizer, chunks } = index;
    const { sources, maxResults } = defaults;
    const scope = { db, tokenizer, chunks, found: () => undefined, isLate: () => false };
    const words = findByWords(scope, { query, sources, candidates: 40, maxResults }).rows;
    const vectors = await index.vectors.search(await embedQuery(query), 40, sources);
    const scores = new Map<number, number>();
    for (const rows of [words, vectors]) {
      for (const [at, { rowid }] of [...rows].sort((a, b) => b.score - a.score).entries()) {
        scores.set(rowid, (scores.get(rowid) ?? 0) + 1 / (61 + at));
      }
    }
    const read = db.prepare("SELECT path, start_line AS startLine, end_line AS endLine FROM chunks WHERE rowid = ?");
    const best = [...scores].sort(([a, x], [b, y]) => y - x || a - b).slice(0, maxResults);
    return best.map(([rowid]) => read.get(rowid) as Passage);
  };
}

async function ours(index: TestIndex, query: string, vectors: VectorSide, over: Partial<SearchParams> = {}): Promise<Passage[]> {
  const scope = { open: () => index, vectors, deadlineMs: performance.now() + 60_000, now: Date.now, interim: () => undefined };
  const { hits } = await hybridSearch(scope, { ...defaults, ...over, query });
  return hits;
}

/** Quality for each of the questions, in order. */
export async function qualities(engine: Engine, index: TestIndex, corpus: Corpus, questions: readonly Question[]): Promise<Quality[]> {
  const found: Quality[] = [];
  for (const question of questions) {
    const passages = await engine(index, question.ask);
    const shown = passages.map((passage) => corpus.shown(question, passage));
    found.push(judge(shown, question.answers.length));
  }
  return found;
}
