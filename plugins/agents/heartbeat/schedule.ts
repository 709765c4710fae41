import type { Clock, Disposable, Timers } from "svc/sdk";
import { type HeartbeatSettings, sameInterval } from "./settings.ts";

/** A busy lane is asked again this often, until the next tick. */
const RETRY_MS = 30_000;
/** First ticks of several agents are spread by this share of the interval. */
const JITTER = 0.1;
/** Longest delay a timer takes is 2^31 − 1 ms; longer ones are chained. */
const MAX_TIMER_MS = 2_000_000_000;

/** `busy`: the session is at work, ask again soon. */
export type TickResult = "done" | "busy";

export interface ScheduleOptions {
  clock: Clock;
  timers: Pick<Timers, "setTimeout">;
  /** [0, 1) */
  random(): number;
  /** Looks around; never rejects. `isRetry`: the same tick again. */
  tick(agentId: string, isRetry: boolean): Promise<TickResult>;
  /** From when an agent's interval counts, epoch ms: its last heartbeat, or its first arming. */
  anchor: { get(agentId: string): number | undefined; set(agentId: string, at: number): void };
}

/** One timer per agent with a heartbeat. */
export interface Schedule {
  /** Arms, re-arms and disarms; agents whose interval did not change keep their time. */
  update(settings: ReadonlyMap<string, HeartbeatSettings>): void;
  /** The process stood still: what fell due meanwhile happens once, now. */
  resumed(): void;
  /** Epoch ms of the next tick. */
  nextAt(agentId: string): number | undefined;
  stop(): void;
}

interface Armed {
  settings: HeartbeatSettings;
  /** Monotonic and wall time of the next tick. Both: the monotonic clock may stand still in a suspend. */
  due: { monotonic: number; wall: number };
  timer: Disposable | undefined;
  retry: Disposable | undefined;
}

export function createSchedule(options: ScheduleOptions): Schedule {
  const { clock, timers } = options;
  const agents = new Map<string, Armed>();

  const disarm = (agentId: string) => {
    const armed = agents.get(agentId);
    void armed?.timer?.dispose();
    void armed?.retry?.dispose();
    agents.delete(agentId);
  };
  const wait = (agentId: string, armed: Armed) => {
    void armed.timer?.dispose();
    const leftMs = Math.max(0, armed.due.monotonic - clock.monotonic());
    armed.timer = timers.setTimeout(
      () => {
        if (armed.due.monotonic > clock.monotonic()) wait(agentId, armed);
        else fall(agentId, armed);
      },
      Math.min(leftMs, MAX_TIMER_MS),
    );
  };
  const setDue = (agentId: string, armed: Armed, exactMs: number) => {
    const delayMs = Math.round(exactMs);
    armed.due = { monotonic: clock.monotonic() + delayMs, wall: clock.now() + delayMs };
    wait(agentId, armed);
  };
  const fall = (agentId: string, armed: Armed) => {
    void armed.retry?.dispose();
    const lateMs = clock.monotonic() - armed.due.monotonic;
    setDue(agentId, armed, Math.max(armed.settings.everyMs - lateMs, armed.settings.everyMs / 2));
    void attempt(agentId, armed, false);
  };
  const attempt = async (agentId: string, armed: Armed, isRetry: boolean) => {
    const result = await options.tick(agentId, isRetry);
    const stillCounts = agents.get(agentId) === armed && clock.monotonic() + RETRY_MS < armed.due.monotonic;
    if (result === "busy" && stillCounts) armed.retry = timers.setTimeout(() => void attempt(agentId, armed, true), RETRY_MS);
  };
  const arm = (agentId: string, settings: HeartbeatSettings) => {
    const armed: Armed = { settings, due: { monotonic: 0, wall: 0 }, timer: undefined, retry: undefined };
    agents.set(agentId, armed);
    setDue(agentId, armed, firstDelay(agentId, settings.everyMs, options));
  };

  return {
    update(settings) {
      for (const agentId of [...agents.keys()]) if (!settings.get(agentId)?.enabled) disarm(agentId);
      for (const [agentId, next] of settings) {
        const armed = agents.get(agentId);
        if (!next.enabled || sameInterval(armed?.settings, next)) continue;
        disarm(agentId);
        arm(agentId, next);
      }
    },
    resumed() {
      for (const [agentId, armed] of agents) {
        const left = Math.min(armed.due.monotonic - clock.monotonic(), armed.due.wall - clock.now());
        setDue(agentId, armed, Math.max(0, left));
      }
    },
    nextAt: (agentId) => agents.get(agentId)?.due.wall,
    stop() {
      for (const agentId of [...agents.keys()]) disarm(agentId);
    },
  };
}

/**
 * One interval after the last heartbeat, else after the start, spread over the agents. A restart neither brings one forward nor puts it off: what fell
 * due while the gateway was down comes soon after the start.
 */
function firstDelay(agentId: string, everyMs: number, { anchor, clock, random }: ScheduleOptions): number {
  const now = clock.now();
  const known = anchor.get(agentId);
  const isUsable = known !== undefined && known - now <= everyMs * JITTER;
  const from = isUsable ? known : now + (2 * random() - 1) * JITTER * everyMs;
  if (!isUsable) anchor.set(agentId, from);
  const left = from + everyMs - now;
  return left > 0 ? left : everyMs * JITTER;
}
