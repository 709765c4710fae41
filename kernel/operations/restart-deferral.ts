import { sleep } from "../../sdk/time.ts";
import type { Logger } from "../../sdk/types/common.ts";
import type { Holds } from "./holds.ts";

/** Two restarts are at least this far apart. */
const RESTART_SPACING_MS = 30_000;
/** Time in which the caller that asked for the restart gets its answer before the sockets close. */
const ANSWER_MS = 250;

export interface RestartDeferral {
  /**
   * Asks for a restart; further requests join one that waits.
   *
   * @param key of the request, for `withdraw`; a second one with the same key replaces the reason
   * @param when before it counts (`delayMs`; cannot be withdrawn meanwhile), and how long it waits for what is held (`waitMs`; the shortest of all requests counts)
   */
  request(key: string, reason: string, when?: RestartTimes): void;
  /** Takes a request back; the last one taken back ends the wait. */
  withdraw(key: string): void;
  /** Reasons of the restart that waits. */
  pending(): string[];
  /** Longest wait that a request named, for the drain of the stop that follows; undefined when none did. */
  waitMs(): number | undefined;
  dispose(): void;
}

export interface RestartTimes {
  delayMs?: number | undefined;
  waitMs?: number | undefined;
}

export interface RestartOptions {
  holds: Holds;
  /** Longest wait for the holds, read when a request comes. */
  limitMs(): number;
  /** Monotonic ms of the last restart, if there was one. */
  restartedAt?: number | undefined;
  logger: Logger;
  /** Reason why the next start is sure to fail; the restart is called off then. */
  refusal?(): Promise<string | undefined>;
  /** Called once. */
  onDue(reason: string): void;
  /** A request came, went or became due. */
  onChange(): void;
}

/** Puts a restart off while work is held, at most `limitMs`, keeps restarts 30 s apart, and calls off one that would end in a refusal. */
export function createRestartDeferral(options: RestartOptions): RestartDeferral {
  const { holds, logger } = options;
  const reasons = new Map<string, string>();
  const delays = createDelays();
  let waiting: AbortController | undefined;
  let isDue = false;
  let waitMs: number | undefined;

  const wait = async (signal: AbortSignal) => {
    const limitMs = waitMs ?? options.limitMs();
    const since = performance.now();
    const spacing = (options.restartedAt ?? Number.NEGATIVE_INFINITY) + RESTART_SPACING_MS - since;
    await sleep(Math.max(ANSWER_MS, spacing), signal).catch(() => undefined);
    if (signal.aborted) return;
    const free = await holds.whenFree(Math.max(0, limitMs - (performance.now() - since)), signal);
    if (signal.aborted) return;
    const refusal = await options.refusal?.();
    if (signal.aborted) return;
    if (refusal !== undefined) return callOff(refusal);
    isDue = true;
    const reason = [...reasons.values()].join("; ");
    if (!free) logger.warn(`restarting although ${runs(holds.count())} did not end within ${Math.round(limitMs / 1000)} s`, { reason });
    options.onDue(reason);
  };

  // A gateway that would not come up again had better stay.
  const callOff = (refusal: string) => {
    logger.error(`not restarting, the next start would be refused: ${refusal.replace(/\n\s*/g, "; ")}`);
    reasons.clear();
    waiting = undefined;
    waitMs = undefined;
    options.onChange();
  };

  const add = (key: string, reason: string, ownWaitMs: number | undefined) => {
    if (isDue) return;
    const isShorter = ownWaitMs !== undefined && ownWaitMs < (waitMs ?? Number.POSITIVE_INFINITY);
    if (reasons.get(key) === reason && !isShorter) return;
    reasons.set(key, reason);
    if (isShorter) {
      waitMs = ownWaitMs;
      waiting?.abort();
      waiting = undefined;
    }
    const count = holds.count();
    logger.warn(`${reason}${count > 0 ? ` — waiting for ${runs(count)}` : ""}`);
    if (!waiting) {
      waiting = new AbortController();
      void wait(waiting.signal);
    }
    options.onChange();
  };

  return {
    request(key, reason, { delayMs = 0, waitMs: own } = {}) {
      if (delayMs > 0) delays.later(delayMs, () => add(key, reason, own));
      else add(key, reason, own);
    },
    withdraw(key) {
      if (isDue || !reasons.delete(key)) return;
      if (reasons.size === 0) {
        waiting?.abort();
        waiting = undefined;
        waitMs = undefined;
      }
      options.onChange();
    },
    pending: () => [...reasons.values()],
    waitMs: () => waitMs,
    dispose() {
      delays.clear();
      waiting?.abort();
    },
  };
}

/** Requests that count later. */
function createDelays() {
  const timers = new Set<NodeJS.Timeout>();
  return {
    later(delayMs: number, request: () => void) {
      const timer = setTimeout(() => {
        timers.delete(timer);
        request();
      }, delayMs);
      timers.add(timer);
    },
    clear() {
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
  };
}

function runs(count: number): string {
  return `${count} run(s)`;
}
