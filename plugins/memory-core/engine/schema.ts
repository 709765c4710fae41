import type { Tokenizer } from "../index-settings.ts";

/** Row of `meta` that holds the identity. */
export const IDENTITY_KEY = "memory_index_meta_v1";

/**
 * Tables of an index. `chunks_fts` has no content of its own: snippets come from `chunks`, rows meet by rowid.
 * `checked_at` is when a file was last read: a file changed in the same moment is read again, whatever its time and size say.
 */
export function schemaSql(tokenizer: Tokenizer): string {
  const tokenize = tokenizer === "trigram" ? "trigram case_sensitive 0" : "unicode61";
  return `
    CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL);
    CREATE TABLE files(path TEXT, source TEXT, hash TEXT NOT NULL, mtime INTEGER NOT NULL, size INTEGER NOT NULL,
                       checked_at INTEGER NOT NULL, PRIMARY KEY(source, path));
    CREATE TABLE chunks(rowid INTEGER PRIMARY KEY, id TEXT UNIQUE, path TEXT, source TEXT, start_line INT, end_line INT,
                        hash TEXT, model TEXT, text TEXT, updated_at INTEGER);
    CREATE INDEX idx_chunks_path ON chunks(source, path);
    CREATE VIRTUAL TABLE chunks_fts USING fts5(text, heading, path_words, content='', contentless_delete=1, tokenize='${tokenize}');
    INSERT INTO chunks_fts(chunks_fts, rank) VALUES ('rank', 'bm25(1.0, 2.0, 2.0)');
  `;
}
