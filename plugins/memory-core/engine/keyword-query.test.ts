import Sqlite from "better-sqlite3";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import type { MemorySource, Tokenizer } from "../index-settings.ts";
import { runTerms } from "./keyword-leg.ts";
import { likePattern, planKeywords } from "./keyword-query.ts";
import { schemaSql } from "./schema.ts";

test("a question becomes a conjunction of its words, then a disjunction of its keywords", () => {
  const { strict, loose } = planKeywords("Where is the router?", "unicode61");
  expect(strict).toMatchObject({ mode: "all", match: '"Where" AND "is" AND "the" AND "router"', like: [] });
  expect(loose).toMatchObject({ mode: "any", match: '"router" OR "router"*', quoted: ['"router"'], like: [] });
});

test("words side by side are a pair when both are keywords", () => {
  expect(planKeywords("a unix domain socket", "unicode61").loose?.match).toContain('"unix domain" OR "domain socket" OR ');
  expect(planKeywords("the socket of the domain", "unicode61").loose?.match).not.toContain('"socket domain"');
});

test("other forms of a word are found by its beginning, which stands beside the word", () => {
  expect(planKeywords("retries for cookies", "unicode61").loose?.match).toBe('"retries" OR "cookies" OR "retr"* OR "cook"*');
  expect(planKeywords("retries for cookies", "trigram").loose?.match).toBe('"retries" OR "cookies"');
});

test("one word without other forms is asked once", () => {
  for (const query of ["E404", "天气"]) expect(planKeywords(query, "trigram").loose).toBeUndefined();
  expect(planKeywords("Router", "trigram").loose).toBeUndefined();
});

test("what holds no word asks nothing", () => {
  for (const query of ["", "  ", '"*"', "🙂🙂", "--- :::"])
    expect(planKeywords(query, "unicode61")).toEqual({ strict: undefined, loose: undefined, groups: [] });
});

test("operators and column filters stay inside quotes", () => {
  const { strict } = planKeywords('text:router OR NEAR("a" b, 2) -x * ^y {heading}', "unicode61");
  expect(strict?.match).toBe('"text" AND "router" AND "OR" AND "NEAR" AND "a" AND "b" AND "2" AND "x" AND "y" AND "heading"');
});

test("words without spaces go through LIKE under unicode61, short ones under trigram", () => {
  expect(planKeywords("天气 router", "unicode61").strict).toMatchObject({ match: '"router"', like: ["天气"] });
  expect(planKeywords("天气 s3 router", "trigram").strict).toMatchObject({ match: '"router"', like: ["天气", "s3"] });
});

test("a pattern has no wildcards of the user", () => {
  expect(likePattern("50%_\\")).toBe("%50\\%\\_\\\\%");
});

test("a very long question stays a small one", () => {
  const { strict } = planKeywords(Array.from({ length: 5_000 }, (_, i) => `w${i}`).join(" "), "unicode61");
  expect(strict?.quoted.length).toBe(64);
});

const databases = new Map<Tokenizer, Sqlite.Database>();
for (const tokenizer of ["unicode61", "trigram"] as const) {
  const db = new Sqlite(":memory:");
  db.exec(schemaSql(tokenizer));
  db.exec(
    "INSERT INTO chunks(path, source, start_line, end_line, text, trail, pending) VALUES ('a.md', 'memory', 1, 1, 'router 天气 50%', '', 0)",
  );
  db.exec("INSERT INTO chunks_fts(rowid, text, heading, path_words) VALUES (1, 'router 天气 50%', '', 'a')");
  databases.set(tokenizer, db);
}
afterAll(() => {
  for (const db of databases.values()) db.close();
});

test("no input of any kind is an error to the database", () => {
  const nasty = fc.string({
    unit: fc.constantFrom(
      '"',
      "*",
      "NEAR(",
      ":",
      "text:",
      "^",
      "-",
      "(",
      ")",
      " AND ",
      "OR ",
      "'",
      "%",
      "_",
      "\\",
      "天",
      "한",
      "😀",
      "a",
      "é",
      "\0",
      "\n",
      "1",
    ),
    maxLength: 60,
  });
  fc.assert(
    fc.property(
      fc.oneof(nasty, fc.string({ unit: "binary", maxLength: 80 })),
      fc.constantFrom<Tokenizer>("unicode61", "trigram"),
      (query, tokenizer) => {
        const { strict, loose } = planKeywords(query, tokenizer);
        const db = databases.get(tokenizer) as Sqlite.Database;
        const sources: MemorySource[] | undefined = query.length % 2 === 0 ? ["memory"] : undefined;
        for (const step of [strict, loose]) if (step) expect(runTerms({ db, limit: 5, sources }, step).length).toBeLessThanOrEqual(5);
      },
    ),
    { numRuns: 200 },
  );
});

test("ten thousand characters of anything are no error either", () => {
  for (const piece of ['"', "*", "NEAR(", "col:x ", "😀", "天", "x", "a b "]) {
    const { strict, loose } = planKeywords(piece.repeat(10_000 / piece.length), "trigram");
    for (const step of [strict, loose])
      if (step) runTerms({ db: databases.get("trigram") as Sqlite.Database, limit: 5, sources: undefined }, step);
  }
});
