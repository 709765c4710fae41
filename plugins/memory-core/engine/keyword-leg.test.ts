import Sqlite from "better-sqlite3";
import { afterAll, expect, test } from "vitest";
import { runTerms } from "./keyword-leg.ts";
import type { TermQuery } from "./keyword-query.ts";
import { schemaSql } from "./schema.ts";

/** More passages with a word than one statement ranks; the oldest of all is the best. */
const db = new Sqlite(":memory:");
db.exec(schemaSql("unicode61"));
db.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 45000)
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
