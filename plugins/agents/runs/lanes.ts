import type { RunLane, SvcConfig } from "svc/sdk";

/** Work of one run: resolves when the run is settled, never rejects. */
export interface LaneJob {
  /** Session. */
  readonly key: string;
  /** Lane whose places it takes. */
  readonly lane: RunLane;
  /** Started by a program: such jobs together leave a place of their lane to people. */
  readonly isProgram?: boolean;
  start(): Promise<void>;
  /** Called when its session is free and it has to wait for a place; once more when it moves up near the front. */
  onWait?(position: number): void;
}

/** Jobs near the front are told of each step they move up; those behind only that they wait. */
const TOLD_EACH_STEP = 10;

/**
 * One job at a time per session, first come first served; at most `places(lane)` of one lane over all sessions, and a free place goes to
 * the session that waited longest. Jobs of programs never take the last place of a lane that has several.
 */
export class Lanes {
  readonly #places: (lane: RunLane) => number;
  readonly #waiting = new Map<string, LaneJob[]>();
  /** Jobs at work, by session. */
  readonly #busy = new Map<string, LaneJob>();
  /** Position that a waiting job was last told. */
  readonly #told = new WeakMap<LaneJob, number>();

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
    const ahead = new Map<RunLane, number>();
    for (const key of [...this.#waiting.keys()]) {
      if (this.#busy.has(key)) continue;
      const job = this.#waiting.get(key)?.[0];
      if (!job) continue;
      if (this.#hasPlace(job) && this.remove(job)) this.#run(job);
      else {
        const position = (ahead.get(job.lane) ?? 0) + 1;
        ahead.set(job.lane, position);
        this.#tell(job, position);
      }
    }
  }

  #tell(job: LaneJob, position: number): void {
    const told = this.#told.get(job);
    if (told === position || (told !== undefined && position > TOLD_EACH_STEP)) return;
    this.#told.set(job, position);
    job.onWait?.(position);
  }

  #hasPlace({ lane, isProgram }: LaneJob): boolean {
    const places = this.#places(lane);
    let [taken, byPrograms] = [0, 0];
    for (const other of this.#busy.values()) {
      if (other.lane !== lane) continue;
      taken += 1;
      if (other.isProgram) byPrograms += 1;
    }
    return taken < places && (!isProgram || byPrograms < programPlaces(places));
  }

  #run(job: LaneJob): void {
    this.#busy.set(job.key, job);
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

/** Places that programs may take together: all but one, which is kept for people. */
function programPlaces(places: number): number {
  return Math.max(1, places - 1);
}

/** Hooks never take more than this, so that a flood of them leaves places for people. */
const HOOK_RUNS = 2;

/** Runs of a lane at a time, over all sessions. */
export function placesOf(lane: RunLane, config: SvcConfig): number {
  if (lane === "main") return config.agents.defaults.maxConcurrent;
  return lane === "cron" ? config.cron.maxConcurrentRuns : HOOK_RUNS;
}
