import type { Database } from "../database.ts";
import type { Passage } from "../passages.ts";
import { TEXT_INDEX_SQL } from "../schema.ts";
import { vectorOf } from "../vectors/similarity.ts";

/** Vectors that an index holds, by the text they were made from: of another line, another note, or the same note before a change. */
export interface KnownVectors {
  /** @param dims length wanted; undefined: any */
  find(passage: Pick<Passage, "hash" | "trail">, dims: number | undefined): Float32Array | undefined;
}

/** Passages of one text that are looked at: those without a vector, whose embedding was refused, come before others at most. */
const MAX_EQUAL = 16;

/**
 * All vectors of an index are of one model, so equal texts have equal vectors. A picture is no text: the hash of its passage is that of its bytes.
 * @param db made with the provider whose vectors are wanted
 */
export function createKnownVectors(db: Database): KnownVectors {
  // An index of an older version lacks it. Without it each lookup would read all passages.
  if (!db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'idx_chunks_text'").get()) db.exec(TEXT_INDEX_SQL);
  const find = db
    .prepare(
      `SELECT v.embedding FROM
         (SELECT rowid AS chunk_id, hash FROM chunks
          WHERE substr(hash, 1, 16) = substr(?, 1, 16) AND trail = ? AND model <> 'fts-only' LIMIT ${MAX_EQUAL}) c
       CROSS JOIN chunk_vectors v ON v.chunk_id = c.chunk_id WHERE c.hash = ? LIMIT 1`,
    )
    .pluck();
  return {
    find({ hash, trail }, dims) {
      if (!db.open) return undefined; // another process has put a new index in its place
      const blob = find.get(hash, trail, hash) as Buffer | undefined;
      const vector = blob && vectorOf(blob);
      return vector && (dims === undefined || vector.length === dims) ? vector : undefined;
    },
  };
}
