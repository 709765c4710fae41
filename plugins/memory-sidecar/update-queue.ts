/** Runs of one kind of work: one at a time. */
export interface UpdateQueue {
  /**
   * Asks for a run. During one, a forced request gets another run after it, which all forced requests of that time share; others join the present one.
   * @returns its end; undefined when it is skipped, because the last one has just ended
   */
  request(options: { force: boolean }): Promise<void> | undefined;
  readonly isRunning: boolean;
  /** Resolves when no run is under way. */
  idle(): Promise<void>;
  /** Time until an unforced request is not skipped any more. */
  readonly waitMs: number;
}

export interface UpdateQueueOptions {
  /** Unforced requests are skipped for so long after a run. */
  debounceMs: number;
  /** Monotonic. */
  now(): number;
  /** @param force at least one of its requests was forced */
  work(force: boolean): Promise<void>;
}

export function createUpdateQueue({ debounceMs, now, work }: UpdateQueueOptions): UpdateQueue {
  let running: Promise<void> | undefined;
  let queued: Promise<void> | undefined;
  let endedAt = Number.NEGATIVE_INFINITY;
  const waitMs = () => Math.max(0, endedAt + debounceMs - now());

  const start = (force: boolean): Promise<void> => {
    const run = work(force).finally(() => {
      endedAt = now();
      if (running === run) running = undefined;
    });
    run.catch(() => undefined); // every request has the same promise, and one of them reports it
    running = run;
    return run;
  };
  const queue = (after: Promise<void>): Promise<void> => {
    const next = () => {
      queued = undefined;
      return start(true);
    };
    const run = after.then(next, next);
    run.catch(() => undefined);
    queued = run;
    return run;
  };

  return {
    request({ force }) {
      if (running) return force ? (queued ?? queue(running)) : running;
      if (queued) return queued;
      return force || waitMs() === 0 ? start(force) : undefined;
    },
    get isRunning() {
      return running !== undefined || queued !== undefined;
    },
    async idle() {
      while (running ?? queued) await (running ?? queued)?.catch(() => undefined);
    },
    get waitMs() {
      return waitMs();
    },
  };
}
