/** Bounds of what waits unsent. */
export interface OutboundLimits {
  /** Bytes per connection, above which droppable events are skipped and anything else cuts it. */
  maxBytes: number;
  /** Bytes of all connections together, above which the worst is cut. */
  maxTotalBytes: number;
  /** Above this many bytes a connection has to make progress: … */
  stallBytes: number;
  /** … so many bytes, or all that is above … */
  stallProgressBytes: number;
  /** … within this time. */
  stallMs: number;
}

/** One connection, as far as its unsent bytes matter. */
export interface OutboundSocket {
  /** Unsent bytes. */
  buffered(): number;
  /** Bytes that have left so far. */
  progress(): number;
  /** Ends the connection; it gets nothing more. */
  cut(code: number, reason: string): void;
}

/** The account of one connection. */
export interface OutboundAccount {
  /** May a frame of this length be written now? A connection that is over its bound is cut unless the frame may be skipped. */
  admits(bytes: number, droppable: boolean): boolean;
  /** Counts what is unsent after something was written without a question. */
  readonly wrote: () => void;
  remove(): void;
}

/** Watches what connections have not read yet. */
export interface SlowConsumers {
  /** @param stallBytes instead of the bound that all others have */
  watch(outlet: OutboundSocket, stallBytes?: number): OutboundAccount;
  /** Cuts connections that have stood still for too long, and the worst while all together are over their bound; called every few seconds. */
  look(): void;
  /** Unsent bytes of all connections, counted now. */
  total(): number;
}

/** State shared by all accounts. */
interface Books {
  admits(entry: Entry, bytes: number, droppable: boolean): boolean;
  wrote(entry: Entry): void;
  remove(entry: Entry): void;
}

/** A class, as there are thousands: its methods are made once. */
class Entry implements OutboundAccount {
  readonly outlet: OutboundSocket;
  readonly stallBytes: number;
  readonly #books: Books;
  isCut = false;
  /** Bytes as of the last frame. */
  known = 0;
  stalled: { mark: number; since: number } | undefined;

  constructor(outlet: OutboundSocket, stallBytes: number, books: Books) {
    this.outlet = outlet;
    this.stallBytes = stallBytes;
    this.#books = books;
  }

  readonly wrote = (): void => this.#books.wrote(this);

  admits(bytes: number, droppable: boolean): boolean {
    return this.#books.admits(this, bytes, droppable);
  }

  remove(): void {
    this.#books.remove(this);
  }
}

/**
 * Bounds the memory that readers can cost by not reading. The sum over all is kept as an estimate that is never too low, and counted anew
 * only when it passes the bound: a frame costs two additions, however many connections there are.
 */
export function createSlowConsumers(limits: OutboundLimits, monotonic: () => number): SlowConsumers {
  const entries = new Set<Entry>();
  let estimate = 0;
  const cut = (entry: Entry) => {
    entry.isCut = true;
    estimate -= entry.known;
    entry.known = 0;
    entries.delete(entry);
    entry.outlet.cut(1008, "slow consumer");
  };
  const recount = () => {
    estimate = 0;
    for (const entry of entries) {
      entry.known = entry.outlet.buffered();
      estimate += entry.known;
    }
    return estimate;
  };
  /** Consumers that are cut free their memory within the time of a close handshake, so they count no more. */
  const relieve = (writer?: Entry, bytes = 0) => {
    recount();
    if (writer) writer.known += bytes;
    estimate += bytes;
    if (estimate <= limits.maxTotalBytes) return;
    for (const worst of [...entries].sort((a, b) => b.known - a.known)) {
      if (estimate <= limits.maxTotalBytes) return;
      cut(worst);
    }
  };
  const books: Books = {
    admits(entry, bytes, droppable) {
      if (entry.isCut) return false;
      const before = entry.outlet.buffered();
      if (before > limits.maxBytes) {
        if (!droppable) cut(entry);
        return false;
      }
      estimate += before + bytes - entry.known;
      entry.known = before + bytes;
      if (estimate > limits.maxTotalBytes) relieve(entry, bytes);
      return !entry.isCut;
    },
    wrote(entry) {
      if (entry.isCut) return;
      const unsent = entry.outlet.buffered();
      estimate += unsent - entry.known;
      entry.known = unsent;
      if (estimate > limits.maxTotalBytes) relieve();
    },
    remove(entry) {
      entry.isCut = true;
      if (entries.delete(entry)) estimate -= entry.known;
    },
  };
  return {
    watch(outlet, stallBytes = limits.stallBytes) {
      const entry = new Entry(outlet, stallBytes, books);
      entries.add(entry);
      return entry;
    },
    look() {
      const now = monotonic();
      relieve();
      for (const entry of entries) {
        const mark = entry.known > entry.stallBytes ? entry.outlet.progress() : undefined;
        if (mark === undefined) entry.stalled = undefined;
        else if (!entry.stalled || mark - entry.stalled.mark >= limits.stallProgressBytes) entry.stalled = { mark, since: now };
        else if (now - entry.stalled.since >= limits.stallMs) cut(entry);
      }
    },
    total: recount,
  };
}
