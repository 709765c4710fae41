import { type ClientInfo, isSvcError, messageOf, type OperatorScope } from "svc/sdk";
import type { Kit } from "../kit.ts";
import type { Runner } from "../runs/runner.ts";
import { type BeatResult, createBeat, type Occasion } from "./beat.ts";
import { createHeartbeatMemory } from "./memory.ts";
import { type HeartbeatReport, skipped } from "./report.ts";
import { createSchedule, type TickResult } from "./schedule.ts";
import { type HeartbeatPlan, resolveHeartbeat, resolveHeartbeats, toPlan } from "./settings.ts";
import { createWakes, type WakeRequest } from "./wakes.ts";

const readers: ReadonlySet<OperatorScope> = new Set(["operator.read", "operator.write", "operator.admin"]);

/** When an agent looks around, and when it did. */
export interface HeartbeatFigures extends HeartbeatPlan {
  lastRunAt?: number;
  nextRunAt?: number;
}

/** Agents that look around by themselves. */
export interface Heartbeats {
  /** Reads what is remembered, then arms the timers. */
  start(): Promise<void>;
  /** No more ticks and wakes; a heartbeat under way goes on. */
  stop(): void;
  /** After a change of the config. */
  update(): void;
  /** The process stood still. */
  resumed(): void;
  /** Events of an earlier process that asked for a heartbeat at once get it now. */
  wakeWaiting(): Promise<void>;
  wake(request: WakeRequest): void;
  /** Switches all of them on or off until the gateway ends; those under way go on. */
  setEnabled(enabled: boolean): void;
  /** The latest report of any agent. */
  last(): HeartbeatReport | null;
  figures(agentId: string): HeartbeatFigures;
}

/** @param random [0, 1); for the spread of first ticks */
export function createHeartbeats(kit: Kit, runner: Pick<Runner, "start">, random: () => number = Math.random): Heartbeats {
  const { ctx } = kit;
  const memory = createHeartbeatMemory(ctx);
  let isOn = true;
  /** Nothing is done that nobody asked for; events that asked for a heartbeat wait, and are read when it is over. */
  const isSafeMode = () => ctx.service("gateway@1").info().phase === "safe-mode";
  const settings = (agentId: string) => resolveHeartbeat(kit.config, agentId);
  const beat = createBeat({ kit, runner, settings, isOn: () => isOn && !isSafeMode(), onRun: memory.setAnchor });
  const ticking = new Set<string>();

  const say = (report: HeartbeatReport) => {
    memory.setLast(report);
    ctx.service("gateway@1").invalidateHealth();
    const { preview: _, ...rest } = report;
    const reads = (client: ClientInfo) => client.scopes.some((scope) => readers.has(scope));
    // Every connection hears of a heartbeat; what was said is for those who may read sessions.
    ctx.emit("heartbeat", report, { only: reads });
    ctx.emit("heartbeat", rest, { only: (client) => !reads(client) });
  };
  /** One that is under way when the plugin stops may end after it; nobody waits for its promise, and nobody can be told any more. */
  const tell = (report: HeartbeatReport) => {
    try {
      say(report);
    } catch (error) {
      if (!isSvcError(error, "plugin-disposed")) throw error;
    }
  };
  const tick = async (agentId: string, isRetry: boolean): Promise<TickResult> => {
    if (ticking.has(agentId)) {
      tell(skipped({ ts: ctx.clock.now(), agentId }, "still-running"));
      return "done";
    }
    ticking.add(agentId);
    try {
      return concludeTick(agentId, await beat({ agentId, kind: "tick", reason: "interval" }), isRetry);
    } finally {
      ticking.delete(agentId);
    }
  };
  const concludeTick = (agentId: string, result: BeatResult, isRetry: boolean): TickResult => {
    if (result.state === "done") tell(result.report);
    else if (!isRetry) tell(skipped({ ts: ctx.clock.now(), agentId }, "lane-busy"));
    return result.state;
  };
  const schedule = createSchedule({
    clock: ctx.clock,
    timers: ctx.timers,
    random,
    tick,
    anchor: { get: memory.anchor, set: memory.setAnchor },
  });
  const wakes = createWakes({
    clock: ctx.clock,
    timers: ctx.timers,
    async attempt({ agentId, sessionKey, reason, isOwn }) {
      const occasion: Occasion = { agentId, sessionKey, reason, kind: isOwn ? "own-wake" : "wake" };
      const result = await beat(occasion);
      if (result.state === "done") tell(result.report);
      return result;
    },
  });
  const update = () => schedule.update(isOn ? resolveHeartbeats(kit.config, kit.directory.list()) : new Map());
  const wake = (request: WakeRequest) => {
    if (!wakes.request(request))
      ctx.logger.warn("too many sessions are waiting to be woken; the next prompt will include the event", { ...request });
  };

  return {
    async start() {
      await memory
        .load(kit.directory.list().map((agent) => agent.id))
        .catch((error: unknown) => ctx.logger.warn("stored heartbeats could not be read", { error: messageOf(error) }));
      update();
    },
    stop() {
      schedule.stop();
      wakes.stop();
    },
    update,
    resumed: schedule.resumed,
    wake,
    async wakeWaiting() {
      for (const sessionKey of await kit.store().systemEvents.waking()) {
        const agentId = /^agent:([^:]+):/.exec(sessionKey)?.[1];
        if (kit.directory.list().some((agent) => agent.id === agentId))
          wake({ agentId: agentId ?? "", sessionKey, reason: "event of an earlier run", isOwn: false });
      }
    },
    setEnabled(enabled) {
      isOn = enabled;
      update();
    },
    last: memory.last,
    figures(agentId) {
      const [lastRunAt, nextRunAt] = [memory.lastRunAt(agentId), schedule.nextAt(agentId)];
      return {
        ...toPlan(settings(agentId), isOn),
        ...(lastRunAt === undefined ? {} : { lastRunAt }),
        ...(nextRunAt === undefined ? {} : { nextRunAt: Math.round(nextRunAt) }),
      };
    },
  };
}
