import { type ClientInfo, isSvcError, messageOf, type OperatorScope } from "svc/sdk";
import type { Kit } from "../kit.ts";
import type { Runner } from "../runs/runner.ts";
import { type BeatResult, createBeat } from "./beat.ts";
import { createHeartbeatMemory, type HeartbeatMemory } from "./memory.ts";
import { type HeartbeatReport, type SkipReason, skipped } from "./report.ts";
import { createSchedule, type Schedule, type TickResult } from "./schedule.ts";
import { type HeartbeatPlan, resolveHeartbeat, resolveHeartbeats, toPlan } from "./settings.ts";
import { createWakes, type WakeRequest, type Wakes } from "./wakes.ts";

const readers: ReadonlySet<OperatorScope> = new Set(["operator.read", "operator.write", "operator.admin"]);

/** When an agent looks around, and when it did. */
export interface HeartbeatFigures extends HeartbeatPlan {
  lastRunAt?: number;
  nextRunAt?: number;
}

/** Agents that look around by themselves. */
export class Heartbeats {
  readonly #kit: Kit;
  readonly #memory: HeartbeatMemory;
  readonly #beat: ReturnType<typeof createBeat>;
  readonly #schedule: Schedule;
  readonly #wakes: Wakes;
  /** Agents whose tick is under way. */
  readonly #ticking = new Set<string>();
  #isOn = true;

  /** @param random [0, 1); for the spread of first ticks */
  constructor(kit: Kit, runner: Pick<Runner, "start">, random: () => number = Math.random) {
    const { clock, timers } = kit.ctx;
    const memory = createHeartbeatMemory(kit.ctx);
    this.#kit = kit;
    this.#memory = memory;
    this.#beat = createBeat({
      kit,
      runner,
      settings: (agentId) => resolveHeartbeat(kit.config, agentId),
      isOn: () => this.#isOn && !this.#isSafeMode(),
      onRun: memory.setAnchor,
    });
    this.#schedule = createSchedule({
      clock,
      timers,
      random,
      tick: (agentId, isRetry) => this.#tick(agentId, isRetry),
      anchor: { get: memory.anchor, set: memory.setAnchor },
    });
    this.#wakes = createWakes({ clock, timers, attempt: (request) => this.#attemptWake(request) });
  }

  /** Reads what is remembered, then arms the timers. */
  async start(): Promise<void> {
    const { ctx, directory } = this.#kit;
    await this.#memory
      .load(directory.list().map((agent) => agent.id))
      .catch((error: unknown) => ctx.logger.warn("stored heartbeats could not be read", { error: messageOf(error) }));
    this.update();
  }

  /** No more ticks and wakes; a heartbeat under way goes on. */
  stop(): void {
    this.#schedule.stop();
    this.#wakes.stop();
  }

  /** After a change of the config. */
  update(): void {
    const { config, directory } = this.#kit;
    this.#schedule.update(this.#isOn ? resolveHeartbeats(config, directory.list()) : new Map());
  }

  /** The process stood still. */
  resumed(): void {
    this.#schedule.resumed();
  }

  /** Events of an earlier process that asked for a heartbeat at once get it now. */
  async wakeWaiting(): Promise<void> {
    for (const sessionKey of await this.#kit.store().systemEvents.waking()) {
      const agentId = /^agent:([^:]+):/.exec(sessionKey)?.[1];
      if (this.#kit.directory.list().some((agent) => agent.id === agentId))
        this.wake({ agentId: agentId ?? "", sessionKey, reason: "event of an earlier run", isOwn: false });
    }
  }

  wake(request: WakeRequest): void {
    if (this.#wakes.request(request)) return;
    this.#kit.ctx.logger.warn("too many sessions are waiting to be woken; the next prompt will include the event", { ...request });
  }

  /** Switches all of them on or off until the gateway ends; those under way go on. */
  setEnabled(enabled: boolean): void {
    this.#isOn = enabled;
    this.update();
  }

  /** The latest report of any agent. */
  last(): HeartbeatReport | null {
    return this.#memory.last();
  }

  figures(agentId: string): HeartbeatFigures {
    const [lastRunAt, nextRunAt] = [this.#memory.lastRunAt(agentId), this.#schedule.nextAt(agentId)];
    return {
      ...toPlan(resolveHeartbeat(this.#kit.config, agentId), this.#isOn),
      ...(lastRunAt === undefined ? {} : { lastRunAt }),
      ...(nextRunAt === undefined ? {} : { nextRunAt: Math.round(nextRunAt) }),
    };
  }

  /** Nothing is done that nobody asked for; events that asked for a heartbeat wait, and are read when it is over. */
  #isSafeMode(): boolean {
    return this.#kit.ctx.service("gateway@1").info().phase === "safe-mode";
  }

  async #tick(agentId: string, isRetry: boolean): Promise<TickResult> {
    if (this.#ticking.has(agentId)) {
      this.#skip(agentId, "still-running");
      return "done";
    }
    this.#ticking.add(agentId);
    try {
      const result = await this.#beat({ agentId, kind: "tick", reason: "interval" });
      if (result.state === "done") this.#publish(result.report);
      else if (!isRetry) this.#skip(agentId, "lane-busy");
      return result.state;
    } finally {
      this.#ticking.delete(agentId);
    }
  }

  async #attemptWake({ agentId, sessionKey, reason, isOwn }: WakeRequest): Promise<BeatResult> {
    const result = await this.#beat({ agentId, sessionKey, reason, kind: isOwn ? "own-wake" : "wake" });
    if (result.state === "done") this.#publish(result.report);
    return result;
  }

  #skip(agentId: string, reason: SkipReason): void {
    this.#publish(skipped({ ts: this.#kit.ctx.clock.now(), agentId }, reason));
  }

  /** One that is under way when the plugin stops may end after it; nobody waits for its promise, and nobody can be told any more. */
  #publish(report: HeartbeatReport): void {
    try {
      this.#emit(report);
    } catch (error) {
      if (!isSvcError(error, "plugin-disposed")) throw error;
    }
  }

  #emit(report: HeartbeatReport): void {
    const { ctx } = this.#kit;
    this.#memory.setLast(report);
    ctx.service("gateway@1").invalidateHealth();
    const { preview: _, ...rest } = report;
    const reads = (client: ClientInfo) => client.scopes.some((scope) => readers.has(scope));
    // Every connection hears of a heartbeat; what was said is for those who may read sessions.
    ctx.emit("heartbeat", report, { only: reads });
    ctx.emit("heartbeat", rest, { only: (client) => !reads(client) });
  }
}
