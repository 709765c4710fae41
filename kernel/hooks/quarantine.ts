/** Consecutive failures that open it, the time they may be spread over, and how long it stays open. Milliseconds are monotonic. */
export interface QuarantineLimits {
  failures: number;
  windowMs: number;
  openMs: number;
}

/** Three failures in a row within ten minutes are five minutes of rest. */
const quarantineLimits: QuarantineLimits = { failures: 3, windowMs: 600_000, openMs: 300_000 };

/** Reason for a call; returned with its outcome. */
export type Pass = "normal" | "trial";

/** Keeps a tap that fails again and again from being called, and lets one call at a time find out whether it recovered. */
export interface Quarantine {
  readonly state: "closed" | "open" | "half-open";
  /** Failures in a row. */
  readonly failures: number;
  /** Monotonic ms of the next trial, while open. */
  readonly until: number | undefined;
  readonly lastError: string | undefined;
  /** Leave to call, or undefined while it rests. */
  enter(now: number): Pass | undefined;
  succeeded(pass: Pass): void;
  failed(pass: Pass, now: number, error: string): void;
  /** The call ended for a reason that says nothing about the tap. */
  abandoned(pass: Pass, now: number): void;
}

/** Calls that began before it opened and end afterwards change nothing: only a trial closes it again. */
export function createQuarantine(limits: QuarantineLimits = quarantineLimits): Quarantine {
  let state: Quarantine["state"] = "closed";
  let failedAt: number[] = [];
  let failures = 0;
  let until = 0;
  let lastError: string | undefined;

  const open = (from: number, restMs: number) => {
    state = "open";
    until = from + restMs;
  };

  return {
    get state() {
      return state;
    },
    get failures() {
      return failures;
    },
    get until() {
      return state === "open" ? until : undefined;
    },
    get lastError() {
      return lastError;
    },
    enter(now) {
      if (state === "closed") return "normal";
      if (state === "half-open" || now < until) return undefined;
      state = "half-open";
      return "trial";
    },
    succeeded(pass) {
      if (pass === "normal" && state !== "closed") return;
      state = "closed";
      failures = 0;
      if (failedAt.length > 0) failedAt = [];
    },
    failed(pass, now, error) {
      if (pass === "normal" && state !== "closed") return;
      lastError = error;
      failures += 1;
      failedAt = [...failedAt, now].slice(-limits.failures);
      const isRow = failedAt.length === limits.failures && now - (failedAt[0] ?? now) <= limits.windowMs;
      if (pass === "trial" || isRow) open(now, limits.openMs);
    },
    abandoned(pass, now) {
      if (pass === "trial") open(now, 0);
    },
  };
}
