import type { HealthPart } from "../../sdk/hooks.ts";
import type { Logger } from "../../sdk/types/common.ts";

/** A job that died silently counts as dead after this many periods. */
const DEAD_AFTER_PERIODS = 3;

/** Something that runs again and again under its own power. */
export interface Job {
  readonly intervalMs: number;
  /** Milliseconds since it last ran; undefined while it has nothing to do. */
  lastRanAgeMs(): number | undefined;
  /** Starts it again; true when it was dead. */
  revive(): boolean;
}

export interface JobFigures {
  intervalMs: number;
  lastRanAgeMs: number;
  /** Number of restarts. */
  revived?: number;
}

export interface Jobs {
  /** Runs `run` every `intervalMs` until `dispose`. A throw is logged. */
  every(name: string, intervalMs: number, run: () => void): void;
  /** Watches over a job that somebody else runs. */
  add(name: string, job: Job): void;
  /** Looks at all jobs and starts dead ones again. `part` is not ok when there was one. */
  look(): { figures: Record<string, JobFigures>; part: HealthPart };
  dispose(): void;
}

export interface JobsOptions {
  logger: Logger;
  /** Monotonic milliseconds. */
  now(): number;
  /** Starts and stops timers; for tests. */
  timers?: { setInterval(fn: () => void, ms: number): unknown; clearInterval(timer: unknown): void };
}

/** The periodic jobs of a gateway, each with the age of its last run; every look at them starts dead ones again. */
export function createJobs(options: JobsOptions): Jobs {
  const { logger, now } = options;
  const timers = options.timers ?? { setInterval, clearInterval: (timer) => clearInterval(timer as NodeJS.Timeout) };
  const jobs = new Map<string, { job: Job; revived: number }>();
  const stops: Array<() => void> = [];

  const periodic = (name: string, intervalMs: number, run: () => void): Job => {
    let ranAt = now();
    const tick = () => {
      ranAt = now();
      try {
        run();
      } catch (error) {
        logger.error(`periodic job ${name} failed`, { error });
      }
    };
    let timer = timers.setInterval(tick, intervalMs);
    stops.push(() => timers.clearInterval(timer));
    return {
      intervalMs,
      lastRanAgeMs: () => now() - ranAt,
      revive() {
        if (now() - ranAt <= DEAD_AFTER_PERIODS * intervalMs) return false;
        timers.clearInterval(timer);
        timer = timers.setInterval(tick, intervalMs);
        tick();
        return true;
      },
    };
  };

  return {
    every: (name, intervalMs, run) => void jobs.set(name, { job: periodic(name, intervalMs, run), revived: 0 }),
    add: (name, job) => void jobs.set(name, { job, revived: 0 }),
    look() {
      const figures: Record<string, JobFigures> = {};
      const dead: string[] = [];
      for (const [name, entry] of jobs) {
        const age = entry.job.lastRanAgeMs();
        if (age === undefined) continue;
        if (entry.job.revive()) {
          entry.revived += 1;
          dead.push(`${name} had not run for ${Math.round(age / 1000)} s and was started again`);
        }
        const revived = entry.revived > 0 ? { revived: entry.revived } : {};
        figures[name] = { intervalMs: entry.job.intervalMs, lastRanAgeMs: Math.round(age), ...revived };
      }
      for (const message of dead) logger.warn(`periodic job ${message}`);
      return {
        figures,
        part: { part: "jobs", ok: dead.length === 0, value: figures, ...(dead.length > 0 ? { message: dead.join("; ") } : {}) },
      };
    },
    dispose() {
      for (const stop of stops.splice(0)) stop();
      jobs.clear();
    },
  };
}
