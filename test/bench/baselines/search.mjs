/**
 * The least that could search: FTS5 on the bare index, all words, and any of them when all gave too little.
 * `node search.mjs <database> <file with questions>` prints the milliseconds of each question.
 */
import { readFileSync } from "node:fs";
import Database from "better-sqlite3";

const candidates = 24;
const shown = 6;
const [path, questionsFile] = process.argv.slice(2);
const db = new Database(path, { readonly: true });
const ranked = db.prepare("SELECT rowid, rank FROM fts WHERE fts MATCH ? ORDER BY rank LIMIT ?");
const fetch = db.prepare("SELECT path, text FROM chunks WHERE id = ?");
const questions = JSON.parse(readFileSync(questionsFile, "utf8"));

for (const question of questions) search(question.words);
const times = questions.map(({ words }) => {
  const started = performance.now();
  if (search(words).length === 0) throw new Error(`nothing found for ${words.join(" ")}`);
  return performance.now() - started;
});
console.log(JSON.stringify(times));

function search(words) {
  const quoted = words.map((word) => `"${word}"`);
  let rows = ranked.all(quoted.join(" AND "), candidates);
  if (rows.length < candidates) rows = [...rows, ...ranked.all(quoted.join(" OR "), candidates)];
  return rows.slice(0, shown).map((row) => fetch.get(row.rowid));
}
