import type { Tokenizer } from "../index-settings.ts";

/** Row of `meta` that holds the identity. */
export const IDENTITY_KEY = "memory_index_meta_v1";

/**
 * Finds passages by their text, the heading path included; keyword-only indexes have nothing to look up. Half of a hash tells texts apart well enough to
 * begin with, at a third of its size.
 */
export const TEXT_INDEX_SQL = "CREATE INDEX IF NOT EXISTS idx_chunks_text ON chunks(substr(hash, 1, 16), trail) WHERE model <> 'fts-only'";

/**
 * Tables of an index. `chunks_fts` has no content of its own: snippets come from `chunks`, rows meet by rowid. `chunks_vec` is made with the first vector.
 * `checked_at` is when a file was last read: a file changed in the same moment is read again, whatever its time and size say.
 * `trail` is the heading path that stands before the text when it is embedded. `pending` marks chunks whose vector is still to come.
 * `chunk_codes` holds what a search compares first, apart from the vectors, so that it is read without them.
 * `batch_jobs` are jobs a vendor still works on; a later process asks for them, too.
 */
export function schemaSql(tokenizer: Tokenizer): string {
  const tokenize = tokenizer === "trigram" ? "trigram case_sensitive 0" : "unicode61";
  return `
    CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL);
    CREATE TABLE files(path TEXT, source TEXT, hash TEXT NOT NULL, mtime INTEGER NOT NULL, size INTEGER NOT NULL,
                       checked_at INTEGER NOT NULL, PRIMARY KEY(source, path));
    CREATE TABLE chunks(rowid INTEGER PRIMARY KEY, id TEXT UNIQUE, path TEXT, source TEXT, start_line INT, end_line INT,
                        hash TEXT, model TEXT, text TEXT, updated_at INTEGER, trail TEXT NOT NULL DEFAULT '',
                        pending INTEGER NOT NULL DEFAULT 0);
    CREATE INDEX idx_chunks_path ON chunks(source, path);
    CREATE INDEX idx_chunks_pending ON chunks(rowid) WHERE pending = 1;
    ${TEXT_INDEX_SQL};
    CREATE TABLE chunk_vectors(chunk_id INTEGER PRIMARY KEY, dims INT NOT NULL, embedding BLOB NOT NULL);
    CREATE TABLE chunk_codes(chunk_id INTEGER PRIMARY KEY, source TEXT NOT NULL, code BLOB NOT NULL);
    CREATE VIRTUAL TABLE chunks_fts USING fts5(text, heading, path_words, content='', contentless_delete=1, tokenize='${tokenize}');
    INSERT INTO chunks_fts(chunks_fts, rank) VALUES ('rank', 'bm25(1.0, 2.0, 2.0)');
    CREATE TABLE embedding_cache(provider TEXT, model TEXT, provider_key TEXT, hash TEXT, embedding BLOB, dims INT,
                                 updated_at INTEGER, PRIMARY KEY(provider, model, provider_key, hash));
    CREATE INDEX idx_cache_age ON embedding_cache(updated_at);
    CREATE TABLE batch_jobs(job TEXT PRIMARY KEY, provider_key TEXT NOT NULL, created_at INTEGER NOT NULL, timeouts INTEGER NOT NULL);
    CREATE TABLE batch_items(job TEXT, ordinal INTEGER, chunk_id TEXT NOT NULL, hash TEXT NOT NULL, PRIMARY KEY(job, ordinal)) WITHOUT ROWID;
    CREATE INDEX idx_batch_items_chunk ON batch_items(chunk_id);
  `;
}
