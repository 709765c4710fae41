import { setImmediate as nextTurn } from "node:timers/promises";
import type { MemorySource } from "../../index-settings.ts";
import type { Database, Statement } from "../database.ts";
import type { Pacer } from "../pacer.ts";
import type { VectorRow } from "../vector-store.ts";
import { blobOf, hasDirection, vectorOf } from "./similarity.ts";

/** Row of `meta`: vectors were written while the extension was not at hand, so the table lacks them. */
const STALE_KEY = "vec0_stale";
const REFILL_ROWS = 32;

/** Notes that the table misses what is being written; a database written like this opens without the extension, too. */
export function markVec0Stale(db: Database): void {
  db.prepare("INSERT OR REPLACE INTO meta(key, value) VALUES (?, '1')").run(STALE_KEY);
}

/** The `vec0` table of an index, on a database that has the extension. */
export class Vec0Table {
  readonly #db: Database;
  readonly #scores: Statement;
  #sql: ReturnType<typeof prepareAll> | undefined;
  /** Every vector is in it. */
  #isWhole = true;
  #isRefilling = false;

  /** @param dims of the vectors that are stored; undefined while there is none */
  constructor(db: Database, dims: number | undefined) {
    this.#db = db;
    this.#scores = db.prepare<unknown[]>(
      `SELECT v.chunk_id AS rowid, 1 - vec_distance_cosine(v.embedding, ?) AS score FROM json_each(?) AS wanted
       CROSS JOIN chunk_vectors v ON v.chunk_id = wanted.value WHERE v.dims = ?`,
    );
    const exists = db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'chunks_vec'").get() !== undefined;
    const isStale = db.prepare("SELECT 1 FROM meta WHERE key = ?").get(STALE_KEY) !== undefined;
    this.#isWhole = dims === undefined || (exists && !isStale);
    if (dims !== undefined && this.#isWhole) this.#sql = prepareAll(db);
  }

  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** Forgets what a rollback may have undone, so that it is read again. */
  forget(): void {
    const exists = this.#db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'chunks_vec'").get() !== undefined;
    if (!exists) this.#sql = undefined;
  }

  put(rowid: number, source: MemorySource, vector: Float32Array): void {
    if (!this.#isWhole && !this.#sql) return; // the refill brings it
    this.#sql ??= this.#begin(vector.length);
    const [key, blob] = [BigInt(rowid), blobOf(vector)];
    try {
      this.#sql.put.run(key, source, blob);
    } catch (error) {
      // vec0 knows no "or replace", and a repeated key is an error; nearly every key is new, and to remove it first takes as long as to put it.
      if (this.#sql.remove.run(key).changes === 0) throw error;
      this.#sql.put.run(key, source, blob);
    }
  }

  remove(rowid: number): void {
    this.#sql?.remove.run(BigInt(rowid));
  }

  /** Exact similarities of stored vectors, which need not leave the database for it; rows without one of this length are left out. */
  scores(query: Float32Array, rowids: readonly number[]): VectorRow[] {
    return this.#scores.all(blobOf(query), JSON.stringify(rowids), query.length) as VectorRow[];
  }

  /** Row ids of the exact answer. */
  nearest(query: Float32Array, k: number, sources: readonly MemorySource[]): number[] {
    if (!this.#sql || sources.length === 0) return [];
    const among = sources.map(() => "?").join(", ");
    const knn = this.#db.prepare(`SELECT chunk_id FROM chunks_vec WHERE embedding MATCH ? AND k = ? AND source IN (${among})`);
    return knn.pluck().all(blobOf(query), k, ...sources) as number[];
  }

  /** Rebuilds the table from the stored vectors, some rows at a time and never inside somebody's transaction. */
  async refill(dims: number, pacer: Pacer): Promise<void> {
    if (this.#isWhole || this.#isRefilling || this.#db.inTransaction) return;
    this.#isRefilling = true;
    try {
      await this.#refill(dims, pacer);
    } finally {
      this.#isRefilling = false;
    }
  }

  async #refill(dims: number, pacer: Pacer): Promise<void> {
    this.#db.transaction(() => {
      this.#sql = this.#create(dims);
      markVec0Stale(this.#db);
    })();
    const page = this.#db.prepare(
      `SELECT v.chunk_id AS rowid, v.embedding, c.source FROM chunk_vectors v CROSS JOIN chunks c ON c.rowid = v.chunk_id
       WHERE v.chunk_id > ? AND v.dims = ? ORDER BY v.chunk_id LIMIT ${REFILL_ROWS}`,
    );
    for (let after = Number.MIN_SAFE_INTEGER; ; await pacer.breathe()) {
      if (this.#db.inTransaction) {
        await nextTurn();
        continue;
      }
      const rows = page.all(after, dims) as Array<{ rowid: number; embedding: Buffer; source: MemorySource }>;
      this.#db.transaction(() => {
        for (const row of rows) this.#putStored(row);
        if (rows.length < REFILL_ROWS) this.#db.prepare("DELETE FROM meta WHERE key = ?").run(STALE_KEY);
      })();
      if (rows.length < REFILL_ROWS) break;
      after = rows.at(-1)?.rowid ?? after;
    }
    this.#isWhole = true;
  }

  #putStored({ rowid, embedding, source }: { rowid: number; embedding: Buffer; source: MemorySource }): void {
    const vector = vectorOf(embedding);
    if (hasDirection(vector)) this.put(rowid, source, vector);
  }

  /** With the first vector of all. */
  #begin(dims: number): ReturnType<typeof prepareAll> {
    const sql = this.#create(dims);
    this.#db.prepare("DELETE FROM meta WHERE key = ?").run(STALE_KEY);
    return sql;
  }

  #create(dims: number): ReturnType<typeof prepareAll> {
    this.#db.exec("DROP TABLE IF EXISTS chunks_vec");
    this.#db.exec(
      `CREATE VIRTUAL TABLE chunks_vec USING vec0(chunk_size=256, chunk_id INTEGER PRIMARY KEY, source TEXT, embedding FLOAT[${dims}] distance_metric=cosine)`,
    );
    return prepareAll(this.#db);
  }
}

function prepareAll(db: Database) {
  return {
    put: db.prepare("INSERT INTO chunks_vec(chunk_id, source, embedding) VALUES (?, ?, ?)"),
    remove: db.prepare("DELETE FROM chunks_vec WHERE chunk_id = ?"),
  };
}
