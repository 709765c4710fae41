/** A payload as one item of a list in it is to see it: the list holds this item alone. A view, because a copy for each item would cost the whole payload again. */
export class ItemView {
  readonly payload: Readonly<Record<string, unknown>>;
  readonly #list: string;
  readonly #only: readonly [unknown];

  /** @param list top-level key of the list */
  constructor(payload: Readonly<Record<string, unknown>>, list: string, item: unknown) {
    this.payload = payload;
    this.#list = list;
    this.#only = [item];
  }

  /** An own member of the payload; undefined when there is none. */
  member(name: string): unknown {
    if (name === this.#list) return this.#only;
    return Object.hasOwn(this.payload, name) ? this.payload[name] : undefined;
  }

  /** The same with a list of nothing: what all items have in common. */
  withoutItem(): ItemView {
    return new ItemView(this.payload, this.#list, null);
  }

  /** A payload of its own, for code that runs apart. Costs as much as the payload has keys. */
  toObject(): Record<string, unknown> {
    return { ...this.payload, [this.#list]: this.#only };
  }
}
