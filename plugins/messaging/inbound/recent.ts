/** Entries that are remembered; the oldest goes first. */
const MAX_REMEMBERED = 2_000;

/** The newest entries of a map. */
export class Recent<T> {
  readonly #entries = new Map<string, T>();

  get(key: string): T | undefined {
    return this.#entries.get(key);
  }

  set(key: string, value: T): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= MAX_REMEMBERED) return;
      this.#entries.delete(oldest);
    }
  }
}
