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
   * @param delayMs before it counts; cannot be withdrawn meanwhile
   */
  request(key: string, reason: string, delayMs?: number): void;
  /** Takes a request back; the last one taken back ends the wait. */
  withdraw(key: string): void;
  /** Reasons of the restart that waits. */
  pending(): string[];
  dispose(): void;
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
  const delayed = new Set<NodeJS.Timeout>();
  let waiting: AbortController | undefined;
  let isDue = false;

  const wait = async (signal: AbortSignal) => {
    const limitMs = options.limitMs();
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
    options.onChange();
  };

  const later = (delayMs: number, request: () => void) => {
    const timer = setTimeout(() => {
      delayed.delete(timer);
      request();
    }, delayMs);
    delayed.add(timer);
  };

  const add = (key: string, reason: string) => {
    if (isDue || reasons.get(key) === reason) return;
    reasons.set(key, reason);
    const count = holds.count();
    logger.warn(`${reason}${count > 0 ? ` — waiting for ${runs(count)}` : ""}`);
    if (!waiting) {
      waiting = new AbortController();
      void wait(waiting.signal);
    }
    options.onChange();
  };

  return {
    request(key, reason, delayMs = 0) {
      if (delayMs > 0) later(delayMs, () => add(key, reason));
      else add(key, reason);
    },
    withdraw(key) {
      if (isDue || !reasons.delete(key)) return;
      if (reasons.size === 0) {
        waiting?.abort();
        waiting = undefined;
      }
      options.onChange();
    },
    pending: () => [...reasons.values()],
    dispose() {
      for (const timer of delayed) clearTimeout(timer);
      waiting?.abort();
    },
  };
}

function runs(count: number): string {
  return `${count} run(s)`;
}
