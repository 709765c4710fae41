import { createMemory, openKernel, type RowComparison, type VectorKernel, type WasmMemory } from "./kernel.ts";

const PAGE = 65_536;
const MAX_PAGES = 65_536;
/** Rows whose results fit the scratch at once. */
export const BLOCK_ROWS = 4_096;
const RESULTS_BYTES = BLOCK_ROWS * 4;
/** Grows by a part of itself, so that adding rows one by one does not ask for memory each time. */
const GROWTH = 1 / 8;

/**
 * Rows of equal length in a WebAssembly memory, and the kernel over them. In front of the rows are the query (twice a row) and the results of a block.
 */
export class RowMemory {
  readonly stride: number;
  readonly #memory: WasmMemory;
  readonly #kernel: VectorKernel;
  readonly #base: number;

  /**
   * @param rowBytes padded with zeros to a multiple of 32
   * @throws {RangeError} when the memory cannot be had
   */
  constructor(rowBytes: number, rows: number) {
    this.stride = Math.ceil(rowBytes / 32) * 32;
    this.#base = RESULTS_BYTES + 2 * this.stride;
    this.#memory = createMemory(this.#pagesFor(rows));
    this.#kernel = openKernel(this.#memory);
  }

  /** @throws {RangeError} when the memory cannot be had */
  reserve(rows: number): void {
    const has = this.#memory.buffer.byteLength / PAGE;
    const needed = this.#pagesFor(rows);
    if (needed <= has) return;
    this.#memory.grow(Math.min(MAX_PAGES, Math.max(needed, Math.ceil(has * (1 + GROWTH)))) - has);
  }

  /** Bytes of one row; valid until the next `reserve`. */
  row(slot: number): Uint8Array {
    return new Uint8Array(this.#memory.buffer, this.#base + slot * this.stride, this.stride);
  }

  /**
   * Compares the query with `count` (at most `BLOCK_ROWS`) rows from `slot` on; the results are valid until the next call.
   * @param query two components for each byte of a row
   */
  dots(query: Int8Array, slot: number, count: number): Int32Array {
    new Int8Array(this.#memory.buffer, RESULTS_BYTES, 2 * this.stride).fill(0).set(query);
    return this.#run(this.#kernel.dot, slot, count);
  }

  /** As `dots`, in bits that differ. */
  differing(query: Uint8Array, slot: number, count: number): Int32Array {
    new Uint8Array(this.#memory.buffer, RESULTS_BYTES, this.stride).fill(0).set(query);
    return this.#run(this.#kernel.differing, slot, count);
  }

  #run(compare: RowComparison, slot: number, count: number): Int32Array {
    compare(RESULTS_BYTES, this.#base + slot * this.stride, count, this.stride, 0);
    return new Int32Array(this.#memory.buffer, 0, count);
  }

  #pagesFor(rows: number): number {
    return Math.ceil((this.#base + rows * this.stride) / PAGE);
  }
}
