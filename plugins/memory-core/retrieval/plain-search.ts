import type { Database } from "../engine/database.ts";

/** The list of English stop words that the NLTK toolkit ships, with contractions cut at the apostrophe as a tokenizer does. */
const stopWords = new Set(
  `i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself it its itself they them their
  theirs themselves what which who whom this that these those am is are was were be been being have has had having do does did doing a an the
  and but if or because as until while of at by for with about against between into through during before after above below to from up down in
  out on off over under again further then once here there when where why how all any both each few more most other some such no nor not only
  own same so than too very s t can will just don should now d ll m o re ve y ain aren couldn didn doesn hadn hasn haven isn ma mightn mustn
  needn shan shouldn wasn weren won wouldn`.split(/\s+/),
);

/** Puts the passages of an index into a text table of their own, without headings, paths or weights. */
export function addPlainTable(db: Database): void {
  db.exec(
    "CREATE VIRTUAL TABLE plain USING fts5(text, content='chunks', content_rowid='rowid'); INSERT INTO plain(plain) VALUES ('rebuild')",
  );
}

/** Baseline search: any word of the question that is not a stop word, best `bm25` first. */
export function searchPlainly(db: Database, question: string, limit: number): Array<{ path: string; startLine: number; endLine: number }> {
  const words = new Set((question.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []).filter((word) => !stopWords.has(word)));
  const match = [...words].map((word) => `"${word}"`).join(" OR ");
  if (match === "") return [];
  const ranked = db.prepare(
    `SELECT c.path, c.start_line AS startLine, c.end_line AS endLine FROM plain JOIN chunks c ON c.rowid = plain.rowid
     WHERE plain MATCH ? ORDER BY bm25(plain), c.path, c.start_line LIMIT ?`,
  );
  return ranked.all(match, limit) as Array<{ path: string; startLine: number; endLine: number }>;
}
