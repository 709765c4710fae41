/** Time limit of one call, from its arrival to its answer, and the end that its caller may put to it. */
export interface CallDeadline {
  /** The caller's own signal. */
  readonly signal: AbortSignal | undefined;
  /** Aborted when the caller gives up or the time is over, with what is to be thrown then. */
  readonly over: AbortSignal;
  /** Waits for something, unless it is over first. @throws the reason of `over` */
  until<T>(promise: Promise<T>): Promise<T>;
  /** Milliseconds until the limit, never below 0. */
  leftMs(): number;
  /** The error of a passed limit. */
  tooLate(): Error;
  dispose(): void;
}

/** @param options.tooLate makes the error of a passed limit */
export function startDeadline(options: { signal: AbortSignal | undefined; limitMs: number; tooLate(): Error }): CallDeadline {
  const { signal, limitMs, tooLate } = options;
  const endsAt = performance.now() + limitMs;
  const abort = new AbortController();
  const giveUp = () => abort.abort(signal?.reason);
  const timer = setTimeout(() => abort.abort(tooLate()), limitMs);
  signal?.addEventListener("abort", giveUp, { once: true });
  if (signal?.aborted) giveUp();
  return {
    signal,
    over: abort.signal,
    async until(promise) {
      promise.catch(() => undefined);
      abort.signal.throwIfAborted();
      let stop: (() => void) | undefined;
      const over = new Promise<never>((_, reject) => {
        stop = () => reject(abort.signal.reason);
        abort.signal.addEventListener("abort", stop, { once: true });
      });
      try {
        return await Promise.race([promise, over]);
      } finally {
        if (stop) abort.signal.removeEventListener("abort", stop);
      }
    },
    tooLate,
    leftMs: () => Math.max(0, endsAt - performance.now()),
    dispose() {
      clearTimeout(timer);
      signal?.removeEventListener("abort", giveUp);
    },
  };
}
