/** Reads in a row take about this long, then others have their turn: those of the embedded store occupy the main thread. */
export const SLICE_MS = 5;
const MIN_ROWS = 4;
const MAX_ROWS = 200;

/** Reads records in slices that take about 5 ms: those with pictures are megabytes, others a hundred bytes. */
export interface Slices {
  /** Calls `read` with how many records it may bring, `most` at most. */
  read<T>(read: (limit: number) => Promise<T[]>, most?: number): Promise<T[]>;
  /** Records of the last slice. */
  readonly rows: number;
  /** The last slice brought none: there are no more. One that brought few may have met the bound of a page. */
  readonly isLast: boolean;
}

export function createSlices(nowMs: () => number = () => performance.now()): Slices {
  let limit = MIN_ROWS;
  let rows = 0;
  let isLast = false;
  return {
    async read(read, most = Number.POSITIVE_INFINITY) {
      const startedAt = nowMs();
      const wanted = Math.min(limit, most);
      const found = await read(wanted);
      rows = found.length;
      isLast = rows === 0;
      limit = nextLimit(limit, nowMs() - startedAt);
      return found;
    },
    get rows() {
      return rows;
    },
    get isLast() {
      return isLast;
    },
  };
}

function nextLimit(limit: number, tookMs: number): number {
  if (tookMs > SLICE_MS) return Math.max(MIN_ROWS, Math.floor(limit / 2));
  return tookMs < SLICE_MS / 2 ? Math.min(MAX_ROWS, limit * 2) : limit;
}
