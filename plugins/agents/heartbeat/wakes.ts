import type { Clock, Disposable, Timers } from "svc/sdk";

/** Requests that come so close together are one. */
const COALESCE_MS = 250;
/** The gateway's own wakes: distance to any event-driven heartbeat of the agent, and how many in ten minutes. */
const OWN_SPACING_MS = 30_000;
const OWN_WINDOW_MS = 600_000;
const OWN_PER_WINDOW = 5;
/** Sessions that wait to be woken; an event that finds no place is read with the next prompt of its session. */
const MAX_WAITING = 1_000;

export interface WakeRequest {
  agentId: string;
  /** Full key of the session to wake; undefined: where the agent's heartbeats take place. */
  sessionKey: string | undefined;
  reason: string;
  /** The gateway asks by itself (cron, background results); spaced and counted. */
  isOwn: boolean;
}

/** Result of an attempt: it took place or was skipped, or the session is busy until the promise resolves. */
export type WakeResult = { state: "done"; ran: boolean } | { state: "busy"; free: Promise<unknown> };

export interface Wakes {
  /** False when too many sessions wait already. */
  request(wake: WakeRequest): boolean;
  stop(): void;
}

interface Waiting {
  wake: WakeRequest;
  /** Monotonic; undefined while the attempt is under way. */
  at: number | undefined;
  timer: Disposable | undefined;
  /** Came in while the attempt was under way. */
  again: WakeRequest | undefined;
}

/**
 * Heartbeats that events ask for. Requests for one session within 250 ms are one; a session at work is woken as soon as it is free.
 *
 * @param options.attempt never rejects
 */
export function createWakes(options: {
  clock: Clock;
  timers: Pick<Timers, "setTimeout">;
  attempt(wake: WakeRequest): Promise<WakeResult>;
}): Wakes {
  const { clock, timers } = options;
  const waiting = new Map<string, Waiting>();
  const flood = createFloodGuard(clock);
  let isStopped = false;

  const idOf = (wake: WakeRequest) => `${wake.agentId}\n${wake.sessionKey ?? ""}`;
  const plan = (entry: Waiting, leastMs: number) => {
    const at = clock.monotonic() + (entry.wake.isOwn ? Math.max(leastMs, flood.waitMs(entry.wake.agentId)) : leastMs);
    if (entry.timer && entry.at !== undefined && entry.at <= at) return;
    void entry.timer?.dispose();
    entry.at = at;
    entry.timer = timers.setTimeout(() => void begin(entry), at - clock.monotonic());
  };
  const begin = async (entry: Waiting): Promise<void> => {
    entry.timer = undefined;
    entry.at = undefined;
    const { wake } = entry;
    const begunAt = clock.monotonic();
    const result = await options.attempt(wake);
    if (isStopped) return;
    if (result.state === "busy") {
      await result.free;
      if (!isStopped) await begin(entry);
      return;
    }
    if (result.ran) flood.count(wake, begunAt);
    waiting.delete(idOf(wake));
    if (entry.again) add(entry.again);
  };
  const add = (wake: WakeRequest): boolean => {
    const id = idOf(wake);
    const known = waiting.get(id);
    if (known && known.at === undefined) {
      known.again = wake;
      return true;
    }
    if (!known && waiting.size >= MAX_WAITING) return false;
    const entry = known ?? { wake, at: undefined, timer: undefined, again: undefined };
    // Somebody who asks from outside does not wait for the gateway's own pace.
    if (!wake.isOwn) entry.wake = wake;
    waiting.set(id, entry);
    plan(entry, COALESCE_MS);
    return true;
  };

  return {
    request: (wake) => !isStopped && add(wake),
    stop() {
      isStopped = true;
      for (const { timer } of waiting.values()) void timer?.dispose();
      waiting.clear();
    },
  };
}

/** Keeps the gateway from feeding itself: a heartbeat whose result asks for the next one, and so on. */
function createFloodGuard(clock: Clock) {
  const agents = new Map<string, { last: number; own: number[] }>();
  const recent = (times: readonly number[]) => times.filter((at) => clock.monotonic() - at < OWN_WINDOW_MS);
  return {
    /** Until one more own wake of this agent may run. */
    waitMs(agentId: string): number {
      const known = agents.get(agentId);
      if (!known) return 0;
      const own = recent(known.own);
      const full = own.length >= OWN_PER_WINDOW ? (own[own.length - OWN_PER_WINDOW] ?? 0) + OWN_WINDOW_MS : 0;
      return Math.max(0, Math.max(known.last + OWN_SPACING_MS, full) - clock.monotonic());
    },
    count({ agentId, isOwn }: WakeRequest, at: number): void {
      const own = recent(agents.get(agentId)?.own ?? []);
      agents.set(agentId, { last: at, own: isOwn ? [...own, at] : own });
    },
  };
}
