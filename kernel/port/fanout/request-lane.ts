/** The requests of one connection: so many at a time, some more in order of arrival, then none. */
export interface RequestLane<R> {
  /** Starts a request or keeps it. @returns false when it can do neither */
  offer(request: R): boolean;
  /** Forgets what has not started. */
  clear(): void;
}

/**
 * @param start begins a request; calls `leave` once it needs its place no more. Calling it again does nothing
 */
export function createRequestLane<R>(
  { maxActive, maxWaiting }: { maxActive: number; maxWaiting: number },
  start: (request: R, leave: () => void) => void,
): RequestLane<R> {
  let active = 0;
  let waiting: R[] = [];
  const begin = (request: R) => {
    active += 1;
    let left = false;
    start(request, () => {
      if (left) return;
      left = true;
      active -= 1;
      const next = waiting.shift();
      if (next !== undefined) begin(next);
    });
  };
  return {
    offer(request) {
      if (active < maxActive) begin(request);
      else if (waiting.length < maxWaiting) waiting.push(request);
      else return false;
      return true;
    },
    clear() {
      waiting = [];
    },
  };
}
