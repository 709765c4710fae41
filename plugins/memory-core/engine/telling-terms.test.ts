import Sqlite from "better-sqlite3";
import { afterEach, expect, test } from "vitest";
import { seededRandom } from "../test-vectors.ts";
import { runSifted, runTerms } from "./keyword-leg.ts";
import { planKeywords, type TermQuery } from "./keyword-query.ts";
import { schemaSql } from "./schema.ts";
import { siftTerms } from "./telling-terms.ts";
import { findByWords } from "./text-leg.ts";
import { openVocabulary } from "./vocabulary.ts";

let open: Sqlite.Database[] = [];
afterEach(() => {
  for (const db of open) db.close();
  open = [];
});

function indexOf(texts: readonly string[]): Sqlite.Database {
  const db = new Sqlite(":memory:");
  open.push(db);
  db.exec(schemaSql("unicode61"));
  const text = db.prepare("INSERT INTO chunks_fts(rowid, text, heading, path_words) VALUES (?, ?, '', '')");
  const chunk = db.prepare("INSERT INTO chunks(rowid, path, source, start_line, end_line, text) VALUES (?, ?, 'memory', 1, 1, ?)");
  db.transaction(() => {
    for (const [index, body] of texts.entries()) {
      text.run(index + 1, body);
      chunk.run(index + 1, `memory/${index}.md`, body);
    }
  })();
  return db;
}

/** Each word in its share of the texts, several times in some. */
function textsOf(count: number, shares: Record<string, number>): string[] {
  const random = seededRandom(11);
  return Array.from({ length: count }, (_, row) => {
    const words = Object.entries(shares).flatMap(([word, share]) => {
      if (random() >= share) return [];
      return Array.from({ length: random() < 0.3 ? 3 : 1 }, () => word);
    });
    return [...words, ...Array.from({ length: 5 + Math.floor(random() * 30) }, () => `filler${row % 97}`)].join(" ");
  });
}

const sift = (db: Sqlite.Database, query: TermQuery, chunks: number) => siftTerms({ db, vocabulary: openVocabulary(db), chunks }, query);
const looseOf = (query: string) => planKeywords(query, "unicode61").loose as TermQuery;
const shares = { gateway: 0.8, memory: 0.55, index: 0.35, vector: 0.25, quantised: 0.1, tombstone: 0.04 };

test("terms are told apart by how many chunks have them", () => {
  const texts = textsOf(1_000, shares);
  const sifted = sift(indexOf(texts), looseOf("gateway memory index vector quantised tombstone"), texts.length);
  expect(sifted).toEqual({
    telling: expect.arrayContaining(['"tombstone"', '"quantised"', '"quantised tombstone"']),
    weighing: expect.arrayContaining(['"index"', '"vector"']),
    idle: ['"gateway"', '"memory"'],
    isAllCommon: false,
  });
  expect([...(sifted?.telling ?? []), ...(sifted?.weighing ?? [])]).not.toContain('"gateway memory"');
});

test("with nothing rare the rarest word tells", () => {
  const texts = textsOf(1_000, shares);
  const sifted = sift(indexOf(texts), looseOf("gateway index vector"), texts.length);
  expect(sifted).toMatchObject({ isAllCommon: true, idle: ['"gateway"'] });
  expect(sifted?.weighing).toContain('"index"');
  expect(sifted?.telling).toContain('"vector"');
});

test("what is read from the texts is not sifted", () => {
  expect(sift(indexOf(["a"]), looseOf("天气 router"), 1)).toBeUndefined();
});

test.each(["tombstone vector gateway", "quantised tombstone index memory", "the tombstone of a quantised vector", "quantised gateway"])(
  "%s: the best rows and their scores are those of the whole disjunction",
  (query) => {
    const texts = textsOf(1_500, shares);
    const db = indexOf(texts);
    const scope = { db, limit: 24, sources: undefined };
    const sifted = sift(db, looseOf(query), texts.length);
    if (!sifted) throw new Error("not sifted");
    const whole = runTerms(scope, looseOf(query));
    const found = runSifted(scope, sifted, 6);
    expect(found).toHaveLength(whole.length);
    for (const [at, row] of whole.entries()) expect(found[at]?.score).toBeCloseTo(row.score, 4);
  },
);

test("a rare word is found among words that are everywhere, and rows with these fill the page", () => {
  const texts = [...textsOf(1_200, shares), "one orchid beside the gateway"];
  const db = indexOf(texts);
  const find = (query: string) =>
    findByWords(
      { db, tokenizer: "unicode61", chunks: texts.length, found: () => undefined, isLate: () => false },
      { query, sources: ["memory", "sessions"], candidates: 24, maxResults: 6 },
    ).rows.sort((a, b) => b.score - a.score);
  const rows = find("where is the orchid of the gateway memory");
  expect(rows[0]?.rowid).toBe(texts.length);
  expect(rows.length).toBeGreaterThanOrEqual(6);
  expect(find("where is the memory of the gateway").length).toBeGreaterThanOrEqual(6);
});
