/** Sources of the figures; either may return undefined. */
export interface DescriptorSources {
  /** Most descriptors of this process. */
  limit(): Promise<number | undefined>;
  /** Descriptors that are open now. */
  count(): Promise<number | undefined>;
  /** Monotonic clock, ms. */
  now(): number;
}

/** Descriptors of this process. */
export interface DescriptorFigures {
  /** Number that may be open. */
  limit: number;
  /** Number that is open: as of the last count, with the connections since. */
  open: number;
}

/** Watches that connections never take the last descriptors, which files, workers and the database need. */
export interface DescriptorBudget {
  opened(): void;
  closed(): void;
  /** `accept` failed for want of a descriptor: for a second nobody is let in. */
  exhausted(): void;
  /** May this one stay? */
  mayConnect(): boolean;
  /** May one more of the lasting kind come? */
  mayUpgrade(): boolean;
  /** Counts anew now. Never rejects. */
  recount(): Promise<void>;
  /** Undefined while nothing is known. */
  figures(): DescriptorFigures | undefined;
}

/** Spare descriptors below which no WebSocket is taken. */
export const SPARE_FOR_UPGRADE = 64;
/** Spare descriptors below which a connection is closed at once; the room between is for probes and operators. */
export const SPARE_FOR_CONNECTION = 32;
/** Counting reads a folder; between two counts connections are added and taken off. */
const COUNT_MS = 1_000;
const PAUSE_MS = 1_000;

/** A budget that counts again at a new connection once the last count is a second old. Nothing runs while nobody comes. */
export function createDescriptorBudget(sources: DescriptorSources): DescriptorBudget {
  let limit = Number.POSITIVE_INFINITY;
  let counted = 0;
  let since = 0; // opened less closed since the count
  let countedAt = Number.NEGATIVE_INFINITY;
  let pausedUntil = Number.NEGATIVE_INFINITY;

  const recount = async () => {
    countedAt = sources.now();
    const [max, open] = await Promise.all([sources.limit(), sources.count()]).catch(() => []);
    if (max === undefined || open === undefined) return;
    limit = max;
    counted = open;
    since = 0;
  };
  const spare = () => limit - counted - since;
  void recount();

  return {
    opened() {
      since += 1;
      if (sources.now() - countedAt >= COUNT_MS) void recount();
    },
    closed() {
      since -= 1;
    },
    exhausted() {
      pausedUntil = sources.now() + PAUSE_MS;
    },
    mayConnect: () => sources.now() >= pausedUntil && spare() >= SPARE_FOR_CONNECTION,
    recount,
    figures: () => (Number.isFinite(limit) ? { limit, open: counted + since } : undefined),
    mayUpgrade: () => spare() >= SPARE_FOR_UPGRADE,
  };
}
