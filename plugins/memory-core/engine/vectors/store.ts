import type { IndexSettings, MemorySource } from "../../index-settings.ts";
import type { Database } from "../database.ts";
import { IndexFault, reasonOf } from "../fault.ts";
import { createPacer } from "../pacer.ts";
import type { VectorRow, VectorStore } from "../vector-store.ts";
import { BIT_STAGE_FROM, BitStage } from "./bit-stage.ts";
import { encode, encodeQuery } from "./codes.ts";
import { loadVectorExtension } from "./extension.ts";
import { hasVectorKernel } from "./kernel.ts";
import { maskOf, type VectorMatrix } from "./matrix.ts";
import { hasCodes, loadMatrix } from "./matrix-loader.ts";
import { scanRows } from "./row-scan.ts";
import { blobOf, cosine, hasDirection, vectorOf } from "./similarity.ts";
import { markVec0Stale, Vec0Table } from "./vec0-table.ts";

/** Rows that are compared exactly for each one wanted, and at least: what four bits a component lose is among them. */
const RERANKED_FACTOR = 4;
const MIN_RERANKED = 96;
/** Up to here the extension's own search, which cannot be interrupted, takes no longer than a slice. */
const VEC0_MAX_ROWS = 10_000;
/** More neighbours than the extension gives. */
const VEC0_MAX_K = 4_096;

export interface VectorStoreOptions {
  vector: IndexSettings["vector"];
  /** Called once when searching needs more than it should, with the reason for people. */
  warn?(message: string): void;
  /** Rows from which on signs are compared first; for tests. */
  bitStageFrom?: number;
  /** False as on a machine without WebAssembly SIMD; for tests. */
  hasMatrix?: boolean;
}

interface Wanted {
  query: Float32Array;
  k: number;
  sources: readonly MemorySource[];
  signal: AbortSignal | undefined;
}

type Change = { rowid: number; source: MemorySource; code: Uint8Array } | { rowid: number; code: undefined };

/** The vectors of an index whose tables exist (`schema.ts`). */
export function createVectorStore(db: Database, options: VectorStoreOptions): VectorStore {
  return new SqliteVectorStore(db, options);
}

class SqliteVectorStore implements VectorStore {
  readonly loadError: string | undefined;
  readonly #db: Database;
  readonly #options: VectorStoreOptions;
  readonly #vec0: Vec0Table | undefined;
  readonly #stop = new AbortController();
  readonly #sql: ReturnType<typeof prepareAll>;
  #dims: number | undefined;
  /** Changes of the transaction under way. */
  #open: Change[] = [];
  /** Changes committed while the matrix is being loaded. */
  #late: Change[] = [];
  #loading: Promise<void> | undefined;
  /** Searches that read the stored vectors now; loading gives way to them. */
  #scans = 0;
  #matrix: VectorMatrix | undefined;
  #bits: BitStage | undefined;
  /** Time of the last search, by the monotonic clock. */
  #searchedAtMs = 0;
  /** No matrix on this machine: every search reads the stored vectors. */
  #scansOnly: boolean;

  constructor(db: Database, options: VectorStoreOptions) {
    this.#db = db;
    this.#options = options;
    this.#sql = prepareAll(db);
    this.#scansOnly = options.hasMatrix === false || !hasVectorKernel();
    this.#dims = this.#readDims();
    this.loadError = loadVectorExtension(db, options.vector);
    if (this.loadError === undefined) this.#vec0 = new Vec0Table(db, this.#dims);
  }

  get dims(): number | undefined {
    return this.#dims;
  }

  get isLoaded(): boolean {
    return this.#matrix !== undefined;
  }

  get backend(): "sqlite-vec" | "in-process" {
    return this.#vec0 ? "sqlite-vec" : "in-process";
  }

  put(rowid: number, source: MemorySource, vector: Float32Array): void {
    this.#dims ??= vector.length;
    if (vector.length !== this.#dims) throw new IndexFault("memory-dimension-mismatch", { expected: this.#dims, got: vector.length });
    const code = encode(vector);
    this.#sql.put.run(rowid, vector.length, blobOf(vector));
    if (code) this.#sql.codes?.put.run(rowid, source, code);
    else this.#sql.codes?.remove.run(rowid);
    if (!this.#vec0) markVec0Stale(this.#db);
    else if (code) this.#vec0.put(rowid, source, vector);
    else this.#vec0.remove(rowid);
    this.#open.push(code ? { rowid, source, code } : { rowid, code });
  }

  remove(rowid: number): void {
    if (this.#sql.remove.run(rowid).changes === 0) return;
    this.#sql.codes?.remove.run(rowid);
    if (this.#vec0) this.#vec0.remove(rowid);
    else markVec0Stale(this.#db);
    this.#open.push({ rowid, code: undefined });
  }

  committed(): void {
    const changes = this.#open;
    this.#open = [];
    if (!this.#loading) this.#apply(changes);
    else for (const change of changes) this.#late.push(change);
  }

  rolledBack(): void {
    if (this.#open.length === 0) return;
    this.#open = [];
    this.#dims = this.#readDims();
    this.#vec0?.forget();
    // A matrix that was read meanwhile may lack what was put back, or hold what there never was.
    this.#loading = undefined;
    this.#matrix = undefined;
    this.#bits = undefined;
  }

  async search(query: Float32Array, k: number, sources: readonly MemorySource[], signal?: AbortSignal): Promise<VectorRow[]> {
    if (query.length !== this.#dims || !hasDirection(query) || k < 1 || sources.length === 0) return [];
    this.#searchedAtMs = performance.now();
    const wanted: Wanted = { query, k, sources, signal };
    if (!this.#matrix) {
      const loaded = this.#scansOnly ? undefined : this.#load();
      loaded?.catch(() => undefined); // the search that needs it says so
      if (this.#canAskVec0(k)) return this.#rank(query, this.#vec0?.nearest(query, k, sources) ?? []);
      // The codes are read in a tenth of the time that comparing the stored vectors takes.
      if (loaded && (this.#sql.codes || !this.#vec0)) await loaded;
      if (signal?.aborted) throw new IndexFault("memory-sync-aborted", {});
      const rows = this.#matrix ? undefined : await this.#scan(wanted, () => this.#matrix !== undefined);
      if (rows) return rows;
    }
    if (this.#matrix) return this.#rank(query, this.#candidates(this.#matrix, query, { k, sources })).slice(0, k);
    return (await this.#scan(wanted)) ?? [];
  }

  prepare(): void {
    this.#searchedAtMs = performance.now();
    if (this.#matrix || this.#scansOnly || this.#dims === undefined) return;
    this.#load().catch(() => undefined); // the search that needs it says so
  }

  releaseIdle(idleMs: number): boolean {
    if (!this.#matrix || performance.now() - this.#searchedAtMs < idleMs) return false;
    this.#matrix = undefined;
    this.#bits = undefined;
    return true;
  }

  close(): void {
    this.#stop.abort();
    this.#matrix = undefined;
    this.#bits = undefined;
  }

  #candidates(matrix: VectorMatrix, query: Float32Array, { k, sources }: { k: number; sources: readonly MemorySource[] }): number[] {
    const code = encodeQuery(query);
    if (!code) return [];
    const count = Math.max(MIN_RERANKED, RERANKED_FACTOR * k);
    const mask = maskOf(sources);
    return this.#bits?.nearest(code, mask, count) ?? matrix.nearest(code.levels, mask, count);
  }

  /** Exact similarity, best first; a row whose vector is gone by now is left out. */
  #rank(query: Float32Array, rowids: readonly number[]): VectorRow[] {
    const rows =
      this.#vec0?.scores(query, rowids) ??
      rowids.flatMap((rowid): VectorRow[] => {
        const blob = this.#sql.embedding.get(rowid) as Buffer | undefined;
        return blob ? [{ rowid, score: cosine(query, vectorOf(blob)) }] : [];
      });
    return rows.sort((a, b) => b.score - a.score || a.rowid - b.rowid);
  }

  /** Reads every stored vector, some at a time; undefined when it became needless meanwhile. */
  async #scan({ query, k, sources, signal }: Wanted, isNeedless?: () => boolean): Promise<VectorRow[] | undefined> {
    const stop = signal ? AbortSignal.any([this.#stop.signal, signal]) : this.#stop.signal;
    const scan = { query, k, sources, backend: this.backend, ...(isNeedless && { isNeedless }) };
    this.#scans += 1;
    try {
      const rows = await scanRows(this.#db, scan, createPacer(stop));
      const ids = rows?.map(({ rowid }) => rowid);
      return ids && this.#rank(query, ids);
    } finally {
      this.#scans -= 1;
    }
  }

  #canAskVec0(k: number): boolean {
    if (!this.#vec0?.isWhole || k > VEC0_MAX_K) return false;
    return Number(this.#sql.bounded.get(VEC0_MAX_ROWS + 1)) <= VEC0_MAX_ROWS;
  }

  /** One load at a time; a failed one leaves the exact scan. */
  #load(): Promise<void> {
    this.#loading ??= this.#loadAll();
    return this.#loading;
  }

  async #loadAll(): Promise<void> {
    await Promise.resolve(); // `#loading` is set before anything is read
    const mine = this.#loading;
    const dims = this.#dims;
    if (dims === undefined) return;
    this.#late = [];
    const pacer = createPacer(this.#stop.signal, { isSecondary: () => this.#scans > 0 });
    try {
      const matrix = await loadMatrix(this.#db, dims, pacer);
      if (this.#loading !== mine) return this.#matrix ? undefined : await this.#load();
      this.#loading = undefined;
      this.#matrix = matrix;
      this.#apply(this.#late);
      this.#late = [];
      void this.#afterLoad(matrix, dims);
    } catch (error) {
      if (this.#loading === mine) this.#loading = undefined;
      if (!(error instanceof RangeError)) throw error;
      this.#giveUpMatrix(error);
    }
  }

  /** Speeds up the next searches and updates shared state; no answer depends on it. */
  async #afterLoad(matrix: VectorMatrix, dims: number): Promise<void> {
    const pacer = createPacer(this.#stop.signal);
    try {
      await this.#vec0?.refill(dims, pacer);
      if (this.#matrix !== matrix || matrix.size < (this.#options.bitStageFrom ?? BIT_STAGE_FROM)) return;
      const bits = new BitStage(matrix, dims);
      this.#bits = bits;
      if (!(await bits.fill(pacer)) && this.#bits === bits) this.#bits = undefined;
    } catch (error) {
      this.#bits = undefined;
      if (!this.#stop.signal.aborted) this.#options.warn?.(`vector search is complete, but its preparation was not: ${reasonOf(error)}`);
    }
  }

  #apply(changes: readonly Change[]): void {
    const matrix = this.#matrix;
    if (!matrix) return;
    try {
      for (const change of changes) {
        if (!change.code) {
          matrix.remove(change.rowid);
          continue;
        }
        const slot = matrix.put(change.rowid, change.source, change.code);
        this.#bits?.put(slot, change.code);
      }
    } catch (error) {
      this.#giveUpMatrix(error);
    }
  }

  #giveUpMatrix(error: unknown): void {
    this.#matrix = undefined;
    this.#bits = undefined;
    this.#scansOnly = true;
    const by = this.#vec0 ? "by sqlite-vec" : "one by one";
    this.#options.warn?.(`vectors are compared ${by} from the database, which is slow: ${reasonOf(error)}`);
  }

  #readDims(): number | undefined {
    return this.#sql.dims.get() as number | undefined;
  }
}

function prepareAll(db: Database) {
  const codes = hasCodes(db) && {
    put: db.prepare("INSERT OR REPLACE INTO chunk_codes(chunk_id, source, code) VALUES (?, ?, ?)"),
    remove: db.prepare("DELETE FROM chunk_codes WHERE chunk_id = ?"),
  };
  return {
    dims: db.prepare("SELECT dims FROM chunk_vectors LIMIT 1").pluck(),
    put: db.prepare("INSERT OR REPLACE INTO chunk_vectors(chunk_id, dims, embedding) VALUES (?, ?, ?)"),
    remove: db.prepare("DELETE FROM chunk_vectors WHERE chunk_id = ?"),
    embedding: db.prepare("SELECT embedding FROM chunk_vectors WHERE chunk_id = ?").pluck(),
    // Counting rows reads their pages, and those of the codes are few.
    bounded: db.prepare(`SELECT count(*) FROM (SELECT 1 FROM ${codes ? "chunk_codes" : "chunk_vectors"} LIMIT ?)`).pluck(),
    /** Absent in an index of an older version. */
    codes: codes || undefined,
  };
}
