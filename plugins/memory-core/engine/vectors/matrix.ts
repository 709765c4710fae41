import type { MemorySource } from "../../index-settings.ts";
import { BestRows } from "./best-rows.ts";
import { codeBytes } from "./codes.ts";
import { BLOCK_ROWS, RowMemory } from "./row-memory.ts";

/** One bit a source; 0 is a slot nobody has. */
const bits: Record<MemorySource, number> = { memory: 1, sessions: 2 };

/** Bit mask of the sources a search may look into. */
export function maskOf(sources: readonly MemorySource[]): number {
  return sources.reduce((mask, source) => mask | bits[source], 0);
}

/** Codes of vectors by row id, and the search for those nearest to a query. A removed row leaves a slot for the next one. */
export class VectorMatrix {
  readonly #rows: RowMemory;
  readonly #slots = new Map<number, number>();
  readonly #free: number[] = [];
  #ids: Float64Array;
  #sources: Uint8Array;
  #used = 0;

  /** @throws {RangeError} when the memory cannot be had */
  constructor(dims: number, rows: number) {
    this.#rows = new RowMemory(codeBytes(dims), rows);
    this.#ids = new Float64Array(rows);
    this.#sources = new Uint8Array(rows);
  }

  /** Rows that can be found. */
  get size(): number {
    return this.#slots.size;
  }

  /** Slots in use or free again; slots are below it. */
  get end(): number {
    return this.#used;
  }

  /** Returns the slot. @throws {RangeError} when the memory cannot be had */
  put(rowid: number, source: MemorySource, code: Uint8Array): number {
    const slot = this.#slots.get(rowid) ?? this.#free.pop() ?? this.#newSlot();
    this.#slots.set(rowid, slot);
    this.#ids[slot] = rowid;
    this.#sources[slot] = bits[source];
    this.#rows.row(slot).set(code);
    return slot;
  }

  remove(rowid: number): void {
    const slot = this.#slots.get(rowid);
    if (slot === undefined) return;
    this.#slots.delete(rowid);
    this.#sources[slot] = 0;
    this.#free.push(slot);
  }

  rowidAt(slot: number): number {
    return this.#ids[slot] ?? 0;
  }

  /** The code of a slot; undefined when nobody has it. Valid until the next `put`. */
  at(slot: number): Uint8Array | undefined {
    return this.#sources[slot] ? this.#rows.row(slot) : undefined;
  }

  isAllowed(slot: number, mask: number): boolean {
    return ((this.#sources[slot] ?? 0) & mask) !== 0;
  }

  /** Row ids of the `count` best by the product of the codes. */
  nearest(query: Int8Array, mask: number, count: number): number[] {
    const best = new BestRows(count);
    for (let from = 0; from < this.#used; from += BLOCK_ROWS) this.#addBlock(best, query, { from, mask });
    return best.keys().map((slot) => this.rowidAt(slot));
  }

  /** The same among these slots only. */
  nearestOf(slots: readonly number[], query: Int8Array, count: number): number[] {
    const best = new BestRows(count);
    for (const slot of slots) best.add(slot, this.#rows.dots(query, slot, 1)[0] ?? 0);
    return best.keys().map((slot) => this.rowidAt(slot));
  }

  #addBlock(best: BestRows, query: Int8Array, { from, mask }: { from: number; mask: number }): void {
    const count = Math.min(BLOCK_ROWS, this.#used - from);
    const dots = this.#rows.dots(query, from, count);
    const sources = this.#sources.subarray(from, from + count);
    let floor = best.floor;
    for (let i = 0; i < count; i++) {
      const dot = dots[i] ?? 0;
      if (dot <= floor || ((sources[i] ?? 0) & mask) === 0) continue;
      best.add(from + i, dot);
      floor = best.floor;
    }
  }

  #newSlot(): number {
    const slot = this.#used;
    this.#rows.reserve(slot + 1);
    if (slot >= this.#ids.length) {
      const length = Math.max(1_024, Math.ceil(this.#ids.length * 1.25));
      this.#ids = extended(this.#ids, new Float64Array(length));
      this.#sources = extended(this.#sources, new Uint8Array(length));
    }
    this.#used++;
    return slot;
  }
}

function extended<T extends Float64Array | Uint8Array>(from: T, to: T): T {
  to.set(from);
  return to;
}
