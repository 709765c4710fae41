/** Work of one run: resolves when the run is settled, never rejects. */
export interface LaneJob {
  readonly key: string;
  start(): Promise<void>;
}

/**
 * One job at a time per session, first come first served; at most `maxConcurrent` over all sessions, and a free place goes to
 * the session that waited longest.
 */
export class Lanes {
  readonly #maxConcurrent: () => number;
  readonly #waiting = new Map<string, LaneJob[]>();
  readonly #busy = new Set<string>();

  /** @param maxConcurrent read whenever a place may be free */
  constructor(maxConcurrent: () => number) {
    this.#maxConcurrent = maxConcurrent;
  }

  get active(): number {
    return this.#busy.size;
  }

  get queued(): number {
    let sum = 0;
    for (const jobs of this.#waiting.values()) sum += jobs.length;
    return sum;
  }

  /** Jobs of a session that have not started. */
  depth(key: string): number {
    return this.#waiting.get(key)?.length ?? 0;
  }

  /** True when the job began at once. */
  enqueue(job: LaneJob): boolean {
    const jobs = this.#waiting.get(job.key);
    if (jobs) jobs.push(job);
    else this.#waiting.set(job.key, [job]);
    this.#advance();
    return !this.#waiting.get(job.key)?.includes(job);
  }

  /** Takes a job out that has not started; false when it has. */
  remove(job: LaneJob): boolean {
    const jobs = this.#waiting.get(job.key);
    const at = jobs?.indexOf(job) ?? -1;
    if (!jobs || at < 0) return false;
    jobs.splice(at, 1);
    if (jobs.length === 0) this.#waiting.delete(job.key);
    return true;
  }

  /** Starts what may start now; after the limit has grown. */
  refill(): void {
    this.#advance();
  }

  #advance(): void {
    for (const key of [...this.#waiting.keys()]) {
      if (this.#busy.size >= this.#maxConcurrent()) return;
      if (this.#busy.has(key)) continue;
      const job = this.#waiting.get(key)?.[0];
      if (job && this.remove(job)) this.#run(job);
    }
  }

  #run(job: LaneJob): void {
    this.#busy.add(job.key);
    const release = () => {
      this.#busy.delete(job.key);
      // A session with more work goes to the end of the line.
      const rest = this.#waiting.get(job.key);
      if (rest) {
        this.#waiting.delete(job.key);
        this.#waiting.set(job.key, rest);
      }
      this.#advance();
    };
    job.start().then(release, release);
  }
}
