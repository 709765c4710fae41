import type { RunLane, SvcConfig } from "svc/sdk";

/** Work of one run: resolves when the run is settled, never rejects. */
export interface LaneJob {
  /** Session. */
  readonly key: string;
  /** Lane whose places it takes. */
  readonly lane: RunLane;
  start(): Promise<void>;
}

/**
 * One job at a time per session, first come first served; at most `places(lane)` of one lane over all sessions, and a free place goes to
 * the session that waited longest.
 */
export class Lanes {
  readonly #places: (lane: RunLane) => number;
  readonly #waiting = new Map<string, LaneJob[]>();
  /** Lane of what is at work, by session. */
  readonly #busy = new Map<string, RunLane>();

  /** @param places read whenever a place may be free */
  constructor(places: (lane: RunLane) => number) {
    this.#places = places;
  }

  get active(): number {
    return this.#busy.size;
  }

  /** Sessions with something at work or waiting. */
  get lanes(): number {
    let sum = this.#busy.size;
    for (const key of this.#waiting.keys()) if (!this.#busy.has(key)) sum += 1;
    return sum;
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
      if (this.#busy.has(key)) continue;
      const job = this.#waiting.get(key)?.[0];
      if (job && this.#hasPlace(job.lane) && this.remove(job)) this.#run(job);
    }
  }

  #hasPlace(lane: RunLane): boolean {
    let taken = 0;
    for (const other of this.#busy.values()) if (other === lane) taken += 1;
    return taken < this.#places(lane);
  }

  #run(job: LaneJob): void {
    this.#busy.set(job.key, job.lane);
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

/** Hooks never take more than this, nor do jobs, so that a flood of them leaves places for people. */
const BACKGROUND_RUNS = 2;

/** Runs of a lane at a time, over all sessions. */
export function placesOf(lane: RunLane, config: SvcConfig): number {
  return lane === "main" ? config.agents.defaults.maxConcurrent : BACKGROUND_RUNS;
}
