import type { Channel, Clock, Disposable, Logger, SvcConfig, Timers } from "svc/sdk";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** A channel that makes its link again says so at least once a minute, and may take another to dial. */
const SHORTEST_SILENCE_MS = 5 * MINUTE_MS;

/** Facts about an account at a check. Times are of the monotonic clock. */
export interface Liveness {
  lifecycle: "starting" | "ready" | "recovering" | "blocked" | "stopped";
  /** When its channel last said anything of its state, or was started. */
  stateAt: number;
  /** When its platform last answered, as its channel says; undefined for one that does not say. */
  aliveAt: number | undefined;
  /** Its channel runs: it is not between two starts. */
  isRunning: boolean;
}

interface Limits {
  checkMs: number;
  staleMs: number;
}

/** Why an account has to be started again; undefined: it is well, or makes its link again by itself. Pure. */
export function stuckReason(
  { lifecycle, stateAt, aliveAt, isRunning }: Liveness,
  { checkMs, staleMs }: Limits,
  now: number,
): string | undefined {
  if (!isRunning) return undefined;
  if (lifecycle === "ready") {
    const silentMs = aliveAt === undefined ? 0 : now - Math.max(aliveAt, stateAt);
    return silentMs >= staleMs ? `its platform has not answered for ${Math.floor(silentMs / MINUTE_MS)} minutes` : undefined;
  }
  if (lifecycle !== "starting" && lifecycle !== "recovering") return undefined;
  const silentMs = now - stateAt;
  const limitMs = Math.max(checkMs, SHORTEST_SILENCE_MS);
  return silentMs >= limitMs ? `it is not connected, and has not tried for ${Math.floor(silentMs / MINUTE_MS)} minutes` : undefined;
}

/** An account that is looked after. */
export interface Monitored {
  readonly channel: Pick<Channel, "id">;
  readonly accountId: string;
  readonly liveness: Liveness;
  restart(reason: string): void;
}

interface MonitorDeps {
  ctx: { clock: Clock; timers: Timers; logger: Logger; snapshot(): SvcConfig };
  all(): Monitored[];
}

/** Starts accounts again that should be connected and are not, or are connected and silent: at most so often in an hour each. */
export class HealthMonitor {
  readonly #deps: MonitorDeps;
  /** Times of restarts in the last hour; an account that was stopped takes its own with it. */
  readonly #restarts = new WeakMap<Monitored, number[]>();
  readonly #told = new WeakMap<Monitored, number>();
  #timer: Disposable | undefined;

  constructor(deps: MonitorDeps) {
    this.#deps = deps;
  }

  /** Begins, or begins again with the interval of a changed config. */
  arm(): void {
    this.disarm();
    const { ctx } = this.#deps;
    const checkMs = ctx.snapshot().gateway.channelHealthCheckMinutes * MINUTE_MS;
    if (checkMs > 0) this.#timer = ctx.timers.setInterval(() => this.check(), checkMs);
  }

  disarm(): void {
    void this.#timer?.dispose();
    this.#timer = undefined;
  }

  check(): void {
    const { ctx, all } = this.#deps;
    const { channelHealthCheckMinutes, channelStaleEventThresholdMinutes, channelMaxRestartsPerHour } = ctx.snapshot().gateway;
    const limits = { checkMs: channelHealthCheckMinutes * MINUTE_MS, staleMs: channelStaleEventThresholdMinutes * MINUTE_MS };
    const now = ctx.clock.monotonic();
    for (const account of all()) {
      const reason = isMonitored(account, ctx.snapshot()) ? stuckReason(account.liveness, limits, now) : undefined;
      if (reason === undefined) continue;
      const lately = (this.#restarts.get(account) ?? []).filter((at) => now - at < HOUR_MS);
      if (lately.length >= channelMaxRestartsPerHour) {
        this.#tellLimit(account, reason, now);
        continue;
      }
      this.#restarts.set(account, [...lately, now]);
      account.restart(reason);
    }
  }

  #tellLimit(account: Monitored, reason: string, now: number): void {
    if (now - (this.#told.get(account) ?? Number.NEGATIVE_INFINITY) < HOUR_MS) return;
    this.#told.set(account, now);
    const { channel, accountId } = account;
    this.#deps.ctx.logger.error(`channel ${channel.id}, account ${accountId} is not started again: it was, too often in an hour`, {
      reason,
    });
  }
}

/** `healthMonitor.enabled` of the account, else of its channel, else of `channels.defaults`. */
function isMonitored({ channel, accountId }: Monitored, { channels }: SvcConfig): boolean {
  const section: Partial<SvcConfig["channels"][string]> = channels[channel.id] ?? {};
  const own: typeof section = section.accounts?.[accountId] ?? {};
  return own.healthMonitor?.enabled ?? section.healthMonitor?.enabled ?? channels.defaults.healthMonitor.enabled;
}
