/** Sockets that have not shaken hands yet, and how many there may be. */
export interface SilentSockets<S> {
  /** Lets one in; over the budget of its address or of all, the oldest is closed first. */
  enter(socket: S, bucket: string): void;
  /** Called when the handshake is done or the socket is gone. */
  leave(socket: S): void;
  size(): number;
}

/** Newest wins: a client that opens sockets and sends nothing displaces its own, and keeps no other client out. */
export function createSilentSockets<S>(budget: { perAddress: number; total: number }, close: (oldest: S) => void): SilentSockets<S> {
  const all = new Map<S, string>();
  const byBucket = new Map<string, Set<S>>();
  const leave = (socket: S) => {
    const bucket = all.get(socket);
    if (bucket === undefined) return;
    all.delete(socket);
    const same = byBucket.get(bucket);
    same?.delete(socket);
    if (same?.size === 0) byBucket.delete(bucket);
  };
  const closeOldest = (of: Iterable<S>) => {
    for (const oldest of of) {
      leave(oldest);
      return close(oldest);
    }
  };
  return {
    enter(socket, bucket) {
      const same = byBucket.get(bucket);
      if (same && same.size >= budget.perAddress) closeOldest(same);
      else if (all.size >= budget.total) closeOldest(all.keys());
      all.set(socket, bucket);
      byBucket.set(bucket, (byBucket.get(bucket) ?? new Set<S>()).add(socket));
    },
    leave,
    size: () => all.size,
  };
}
