/** The highest of many scored rows, at most `limit`: a heap with the lowest on top. */
export class BestRows {
  readonly #limit: number;
  readonly #keys: number[] = [];
  readonly #scores: number[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Score that a row must exceed to be kept. */
  get floor(): number {
    return this.#keys.length < this.#limit ? Number.NEGATIVE_INFINITY : (this.#scores[0] ?? Number.POSITIVE_INFINITY);
  }

  /** Adds a row; of equal rows the one added first stays. */
  add(key: number, score: number): void {
    if (this.#keys.length < this.#limit) {
      this.#keys.push(key);
      this.#scores.push(score);
      this.#up(this.#keys.length - 1);
    } else if (score > this.floor) {
      this.#keys[0] = key;
      this.#scores[0] = score;
      this.#down();
    }
  }

  /** In no order. */
  keys(): readonly number[] {
    return this.#keys;
  }

  /** Best first; of equal ones the lower key. */
  sorted(): Array<{ key: number; score: number }> {
    const rows = this.#keys.map((key, index) => ({ key, score: this.#scores[index] ?? 0 }));
    return rows.sort((a, b) => b.score - a.score || a.key - b.key);
  }

  #up(index: number): void {
    for (let at = index; at > 0; ) {
      const above = (at - 1) >> 1;
      if (!this.#isBelow(at, above)) return;
      this.#swap(at, above);
      at = above;
    }
  }

  #down(): void {
    for (let at = 0; ; ) {
      const left = 2 * at + 1;
      const right = left + 1;
      let least = at;
      if (left < this.#keys.length && this.#isBelow(left, least)) least = left;
      if (right < this.#keys.length && this.#isBelow(right, least)) least = right;
      if (least === at) return;
      this.#swap(at, least);
      at = least;
    }
  }

  #isBelow(a: number, b: number): boolean {
    return (this.#scores[a] ?? 0) < (this.#scores[b] ?? 0);
  }

  #swap(a: number, b: number): void {
    const { [a]: keyA = 0, [b]: keyB = 0 } = this.#keys;
    const { [a]: scoreA = 0, [b]: scoreB = 0 } = this.#scores;
    this.#keys[a] = keyB;
    this.#keys[b] = keyA;
    this.#scores[a] = scoreB;
    this.#scores[b] = scoreA;
  }
}
