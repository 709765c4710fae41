/** Updates of one bot that wait for the host at a time: Telegram keeps the others. */
const MAX_UNDER_WAY = 100;

/**
 * Updates that came by webhook and are not stored yet. Telegram sends an update again when it is not answered in time: each further delivery waits for the first
 * one. It outlives the links of the bot, because what waits for the host does, too.
 */
export class UnderWay {
  readonly #stored = new Map<number, Promise<void>>();

  /** Starts to store an update, or joins what stores it already. Rejects when too many wait. */
  async join(updateId: number, store: () => Promise<void>): Promise<void> {
    const earlier = this.#stored.get(updateId);
    if (earlier) return earlier;
    if (this.#stored.size >= MAX_UNDER_WAY) throw new Error(`${MAX_UNDER_WAY} updates wait for the host already`);
    const stored = store().finally(() => this.#stored.delete(updateId));
    this.#stored.set(updateId, stored);
    return stored;
  }
}
