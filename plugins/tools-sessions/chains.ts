/** Messages that sessions may send each other one after the other, each because of the one before. */
export const MAX_CHAIN = 3;
/** Messages that one run may cause, those that its messages cause included. */
export const MAX_CAUSED = 20;
/** Runs that are remembered. */
const MAX_REMEMBERED = 1_000;

interface Place {
  depth: number;
  /** Shared by all runs that one run has caused. */
  caused: { count: number };
}

/** Messages between sessions by the run that caused them: neither deep nor many. The run that was not heard of for longest is forgotten first. */
export class Chains {
  readonly #places = new Map<string, Place>();

  /** Counts a message of a run that another run will answer. @returns why it may not be sent */
  add(from: string, to: string): string | undefined {
    const place = this.#places.get(from) ?? { depth: 0, caused: { count: 0 } };
    if (place.depth >= MAX_CHAIN) return `sessions have written to each other ${MAX_CHAIN} times already; answer the user`;
    if (place.caused.count >= MAX_CAUSED) return `${MAX_CAUSED} messages to other sessions are enough for one request; answer the user`;
    place.caused.count += 1;
    this.#remember(from, place);
    this.#remember(to, { depth: place.depth + 1, caused: place.caused });
    return undefined;
  }

  #remember(runId: string, place: Place): void {
    this.#places.delete(runId);
    this.#places.set(runId, place);
    const [oldest] = this.#places.keys();
    if (this.#places.size > MAX_REMEMBERED && oldest !== undefined) this.#places.delete(oldest);
  }
}
