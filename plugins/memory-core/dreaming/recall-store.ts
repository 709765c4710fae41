import { claimHash, hasCounted, type RecallEntry, type Signal, withSignal } from "./recall-entry.ts";

/** Entries that are kept; those that were recalled least lately go first. */
export const MAX_ENTRIES = 2_000;

/** Short-term memory of one workspace, in memory. */
export class RecallStore {
  readonly #entries = new Map<string, RecallEntry>();
  /** Key by file and claim, so that a statement that moved within its note stays one entry. */
  readonly #byClaim = new Map<string, string>();

  constructor(entries: Iterable<RecallEntry> = []) {
    for (const entry of entries) this.#put(entry);
  }

  get size(): number {
    return this.#entries.size;
  }

  get entries(): RecallEntry[] {
    return [...this.#entries.values()];
  }

  get(key: string): RecallEntry | undefined {
    return this.#entries.get(key);
  }

  /** Counts a signal. @returns the entry; undefined when the same query has counted today */
  add(signal: Signal): RecallEntry | undefined {
    const claim = claimHash(signal.snippet);
    const known = this.#byClaim.get(`${signal.path}:${claim}`);
    const before = known === undefined ? undefined : this.#entries.get(known);
    if (before && signal.isOncePerDay && hasCounted(before, signal)) return undefined;
    // A statement keeps its key when it moves within its note: markers in the long-term memory name it, and another one on its old lines has another claim.
    const key = before?.key ?? `memory:${signal.path}:${signal.startLine}:${signal.endLine}:${claim}`;
    const entry = withSignal(before, key, signal);
    this.#put(entry);
    return entry;
  }

  /** Replaces entries as a whole, such as with a date of promotion. */
  put(entry: RecallEntry): void {
    this.#put(entry);
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    this.#entries.delete(key);
    const name = `${entry.path}:${claimHash(entry.snippet)}`;
    if (this.#byClaim.get(name) === key) this.#byClaim.delete(name);
  }

  /** Entries to be stored, within the bound. */
  kept(): RecallEntry[] {
    const all = this.entries;
    if (all.length <= MAX_ENTRIES) return all;
    return all.sort((a, b) => b.lastRecalledAt.localeCompare(a.lastRecalledAt) || a.key.localeCompare(b.key)).slice(0, MAX_ENTRIES);
  }

  #put(entry: RecallEntry): void {
    this.#entries.set(entry.key, entry);
    this.#byClaim.set(`${entry.path}:${claimHash(entry.snippet)}`, entry.key);
  }
}
