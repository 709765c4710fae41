import type { Pacer } from "../pacer.ts";
import { BestRows } from "./best-rows.ts";
import { codeBytes, type QueryCode, queryOf, signsOf } from "./codes.ts";
import type { VectorMatrix } from "./matrix.ts";
import { BLOCK_ROWS, RowMemory } from "./row-memory.ts";

/** From this many rows on, reading an eighth of the bytes first is worth it. */
export const BIT_STAGE_FROM = 150_000;
/** Rows the bits let through for every row wanted in the end, and at least. */
const PASS_FACTOR = 16;
const MIN_PASS = 384;
const CHECK_QUERIES = 50;
const CHECK_K = 24;
const CHECK_RECALL = 0.99;

/** A first look at the signs alone: vectors that point the same way differ in few. Slots are those of the matrix. */
export class BitStage {
  readonly #rows: RowMemory;
  readonly #matrix: VectorMatrix;
  readonly #dims: number;
  #isReady = false;

  /** Empty; `put` is called for every change from here on. @throws {RangeError} when the memory cannot be had */
  constructor(matrix: VectorMatrix, dims: number) {
    this.#matrix = matrix;
    this.#dims = dims;
    this.#rows = new RowMemory(codeBytes(dims) / 4, matrix.end);
  }

  /** Reads the matrix; false when vectors like these are not told apart by their signs, so that results would be lost. */
  async fill(pacer: Pacer): Promise<boolean> {
    for (let slot = 0; slot < this.#matrix.end; slot++) {
      const code = this.#matrix.at(slot);
      if (code) this.put(slot, code);
      await pacer.breathe();
    }
    this.#isReady = await this.#isFaithful(pacer);
    return this.#isReady;
  }

  put(slot: number, code: Uint8Array): void {
    this.#rows.reserve(slot + 1);
    this.#rows.row(slot).set(signsOf(code));
  }

  /** As `VectorMatrix.nearest`, over the rows that the bits let through; undefined before it is filled and found good. */
  nearest(query: QueryCode, mask: number, count: number): number[] | undefined {
    return this.#isReady ? this.#quickly(query, mask, count) : undefined;
  }

  #quickly(query: QueryCode, mask: number, count: number): number[] {
    const passed = this.#passing(signsOf(query.code), mask, Math.max(MIN_PASS, count * PASS_FACTOR));
    return this.#matrix.nearestOf(passed, query.levels, count);
  }

  #passing(signs: Uint8Array, mask: number, count: number): readonly number[] {
    const best = new BestRows(count);
    for (let from = 0; from < this.#matrix.end; from += BLOCK_ROWS) {
      const rows = Math.min(BLOCK_ROWS, this.#matrix.end - from);
      const differing = this.#rows.differing(signs, from, rows);
      for (let i = 0; i < rows; i++) {
        const score = -(differing[i] ?? 0);
        if (score > best.floor && this.#matrix.isAllowed(from + i, mask)) best.add(from + i, score);
      }
    }
    return best.keys();
  }

  async #isFaithful(pacer: Pacer): Promise<boolean> {
    const anySource = -1;
    const step = Math.max(1, Math.floor(this.#matrix.end / CHECK_QUERIES));
    let wanted = 0;
    let found = 0;
    for (let slot = 0; slot < this.#matrix.end; slot += step) {
      const code = this.#matrix.at(slot);
      if (!code) continue;
      const query = queryOf(code, this.#dims);
      const exact = this.#matrix.nearest(query.levels, anySource, CHECK_K);
      const quick = new Set(this.#quickly(query, anySource, CHECK_K));
      wanted += exact.length;
      found += exact.filter((rowid) => quick.has(rowid)).length;
      await pacer.breathe();
    }
    return found >= wanted * CHECK_RECALL;
  }
}
