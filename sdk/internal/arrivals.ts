/**
 * Key of a second way to read a stream: what arrived together comes together. With an async context Node 20 spends more on the promises of one item
 * than most readers do on the item itself.
 */
const arrivals = Symbol.for("svc.arrivals");

/** An item, or several that were there at once. Items are no arrays themselves. */
export type Arrival<T> = T | readonly T[];

/** A stream whose items can be read one by one or as they arrive. @param open begins to read, once for each reader */
export function inArrivals<T>(open: () => AsyncIterable<Arrival<T>>): AsyncIterable<T> {
  const items: AsyncIterable<T> & { [arrivals]: typeof open } = {
    [arrivals]: open,
    async *[Symbol.asyncIterator]() {
      for await (const arrived of open()) for (const item of itemsOf(arrived)) yield item;
    },
  };
  return items;
}

export function knowsArrivals(items: AsyncIterable<unknown>): boolean {
  return arrivals in items;
}

/** The items of a stream as they arrive; those of a stream that knows no arrivals come one by one. */
export function arrivalsOf<T>(items: AsyncIterable<T>): AsyncIterable<Arrival<T>> {
  return (items as { [arrivals]?: () => AsyncIterable<Arrival<T>> })[arrivals]?.() ?? items;
}

/** The items of an arrival, in order. */
export function itemsOf<T>(arrived: Arrival<T>): readonly T[] {
  return Array.isArray(arrived) ? (arrived as readonly T[]) : [arrived as T];
}
