import type { MemorySource } from "../index-settings.ts";

/** A vector found near a query: `score` is the cosine similarity, -1…1. */
export interface VectorRow {
  rowid: number;
  score: number;
}

/**
 * Vectors of one open index: float rows in `chunk_vectors`, their codes in `chunk_codes`, the `vec0` table where the extension is at hand, and the matrix of codes
 * that is searched. Writes belong to the transaction of the caller.
 */
export interface VectorStore {
  /** Length of all vectors; undefined while there is none. */
  readonly dims: number | undefined;
  readonly backend: "sqlite-vec" | "in-process";
  /** The matrix answers the next search; else sqlite-vec does, or without it a comparison in JavaScript. */
  readonly isLoaded: boolean;
  /** Reason why the extension is not available. */
  readonly loadError: string | undefined;
  /** @throws {IndexFault} `memory-dimension-mismatch` for another length than the first vector's */
  put(rowid: number, source: MemorySource, vector: Float32Array): void;
  remove(rowid: number): void;
  /** After a commit: what was put and removed is searched from now on; after a rollback it is forgotten. */
  committed(): void;
  rolledBack(): void;
  /**
   * Best first, at most `k`; vectors of another length than the query are not compared. An all-zero query finds nothing.
   * @param signal ends a search that reads the stored vectors one after the other
   * @throws {IndexFault} `memory-sync-aborted` after the signal, or when the store was closed meanwhile
   */
  search(query: Float32Array, k: number, sources: readonly MemorySource[], signal?: AbortSignal): Promise<VectorRow[]>;
  /** A search comes: what it needs in memory is read meanwhile. */
  prepare(): void;
  /** Takes out of memory what nobody has searched for that long. Returns whether there was anything; the next search reads it again. */
  releaseIdle(idleMs: number): boolean;
  /** Ends what goes on in the background; before the database is closed. */
  close(): void;
}
