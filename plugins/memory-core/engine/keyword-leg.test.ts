import Sqlite from "better-sqlite3";
import { afterAll, expect, test } from "vitest";
import { runIdle, runTerms } from "./keyword-leg.ts";
import type { TermQuery } from "./keyword-query.ts";
import { schemaSql } from "./schema.ts";

/** More passages with a word than one statement ranks; the oldest of all is the best. */
const db = new Sqlite(":memory:");
db.exec(schemaSql("unicode61"));
db.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 130000)
  INSERT INTO chunks_fts(rowid, text, heading, path_words) SELECT i, CASE i WHEN 1 THEN 'gateway gateway gateway' ELSE iif(i % 2, 'gateway and more', 'other things') END, '', '' FROM n`);
afterAll(() => void db.close());

const query: TermQuery = { mode: "any", match: '"gateway"', quoted: ['"gateway"'], forms: [], like: [] };

test("the best passage is found among tens of thousands with the word, however old it is", () => {
  const rows = runTerms({ db, limit: 5, sources: undefined }, query);
  expect(rows[0]?.rowid).toBe(1);
  expect(rows).toHaveLength(5);
});

test("when time is up the newest were ranked, and the caller is told that not all were", () => {
  let cuts = 0;
  const rows = runTerms({ db, limit: 5, sources: undefined, isLate: () => true, cut: () => void cuts++ }, query);
  expect(rows).toHaveLength(5);
  expect(rows.map((row) => row.rowid)).not.toContain(1);
  expect(cuts).toBe(1);
});

test("of passages with all words that are everywhere, those with the words together are found, however old they are", () => {
  const common = new Sqlite(":memory:");
  common.exec(schemaSql("unicode61"));
  common.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000)
    INSERT INTO chunks_fts(rowid, text, heading, path_words) SELECT i, 'alpha alpha alpha ${"and so on ".repeat(8)}' || iif(i IN (7, 11, 13), '', 'beta beta beta'), '', '' FROM n`);
  common.exec("UPDATE chunks_fts SET text = 'so alpha went with beta and on', heading = '', path_words = '' WHERE rowid IN (7, 11, 13)");
  const words: TermQuery = { mode: "all", match: '"alpha" AND "beta"', quoted: ['"alpha"', '"beta"'], forms: [], like: [] };
  const found = (limit: number) => runIdle({ db: common, limit, sources: undefined }, words);
  expect(found(3).map(({ rowid, exact }) => [rowid, exact])).toEqual([
    [7, true],
    [11, true],
    [13, true],
  ]);
  // Too few stand together to fill the page: all are ranked.
  expect(found(20)).toEqual(runTerms({ db: common, limit: 20, sources: undefined }, words));
  common.close();
});
