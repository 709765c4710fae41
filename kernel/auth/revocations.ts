/** Tells many of the end of one thing. */
export interface Revocations {
  /** @returns ends the interest */
  follow(revoked: AbortSignal, tell: () => void): () => void;
}

/** One listener per signal, however many follow it: a signal looks through all its listeners whenever one comes or goes. */
export function createRevocations(): Revocations {
  const followers = new WeakMap<AbortSignal, Set<() => void>>();
  const begin = (revoked: AbortSignal): Set<() => void> => {
    const all = new Set<() => void>();
    followers.set(revoked, all);
    revoked.addEventListener("abort", () => [...all].forEach((tell) => void tell()), { once: true });
    return all;
  };
  return {
    follow(revoked, tell) {
      const all = followers.get(revoked) ?? begin(revoked);
      all.add(tell);
      return () => void all.delete(tell);
    },
  };
}
