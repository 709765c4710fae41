import { mainSessionKey, messageOf } from "svc/sdk";
import { judgeReply } from "svc/sdk/internal";
import { type Kit, runsOf } from "../kit.ts";
import { deliverNews, lastRouteOf } from "../runs/deliver.ts";
import type { Run } from "../runs/run.ts";
import type { Runner } from "../runs/runner.ts";
import { isActive } from "./active-hours.ts";
import { isChecklistBlank } from "./checklist.ts";
import { failed, type HeartbeatReport, news, type SkipReason, skipped, told } from "./report.ts";
import type { HeartbeatSettings } from "./settings.ts";
import { type Visibility, visibilityOf } from "./visibility.ts";

/** Said to people who want to hear of heartbeats without news. */
const NOTHING_NEW = "Nothing needs attention.";

/** One occasion to look around. */
export interface Occasion {
  agentId: string;
  /** The timer, an event that asked for it, or the gateway by itself. */
  kind: "tick" | "wake" | "own-wake";
  /** Full key of the session that was woken; undefined: where the agent's heartbeats take place. */
  sessionKey?: string | undefined;
  /** Reason, for plugins that may refuse it. */
  reason: string;
}

/** Result of a heartbeat occasion. */
export type BeatResult = { state: "busy"; free: Promise<unknown> } | { state: "done"; ran: boolean; report: HeartbeatReport };

export interface BeatOptions {
  kit: Kit;
  runner: Pick<Runner, "start">;
  settings(agentId: string): HeartbeatSettings;
  /** False while `set-heartbeats` has switched all of them off. */
  isOn(): boolean;
  /** Called right before a run of the timer begins. */
  onRun(agentId: string, ts: number): void;
}

interface Place {
  sessionKey: string;
  /** A fresh transcript for this heartbeat alone. */
  fresh: boolean;
  /** Session whose events are read. */
  eventsFrom: string;
}

/** Looks around once for an agent, if there is a reason to. Never rejects. */
export function createBeat(options: BeatOptions): (occasion: Occasion) => Promise<BeatResult> {
  return async (occasion) => {
    const { clock, logger } = options.kit.ctx;
    const ids = { ts: clock.now(), agentId: occasion.agentId };
    const begun = clock.monotonic();
    try {
      return await beat(occasion, options);
    } catch (error) {
      logger.warn(`heartbeat of agent "${occasion.agentId}" failed`, { error: messageOf(error) });
      const report = failed({ ...ids, durationMs: Math.round(clock.monotonic() - begun) }, { message: messageOf(error) });
      return { state: "done", ran: false, report };
    }
  };
}

async function beat(occasion: Occasion, options: BeatOptions): Promise<BeatResult> {
  const { kit } = options;
  const { agentId } = occasion;
  const settings = options.settings(agentId);
  const ids = { ts: kit.ctx.clock.now(), agentId };
  const skip = (reason: SkipReason, sessionKey?: string): BeatResult => ({
    state: "done",
    ran: false,
    report: skipped({ ...ids, ...(sessionKey === undefined ? {} : { sessionKey }) }, reason),
  });
  if (!options.isOn()) return skip("disabled");
  // A request from outside gets a heartbeat also where the timer is off, and at night.
  if (occasion.kind !== "wake" && !isActive(settings.activeHours, ids.ts)) return skip("quiet-hours");
  const place = await placeOf(occasion, settings, kit);
  const working = [...runsOf(kit, place.sessionKey), ...(place.eventsFrom === place.sessionKey ? [] : runsOf(kit, place.eventsFrom))];
  if (working.length > 0) return { state: "busy", free: Promise.all(working.map((run) => run.done)) };
  const idle = await reasonToRest(place, settings, { agentId, kit });
  if (idle) return skip(idle, place.sessionKey);
  const refusal = await refusedBy(occasion, place, kit);
  if (refusal !== undefined) return skip(`blocked: ${refusal}`, place.sessionKey);
  if (occasion.kind === "tick") options.onRun(agentId, ids.ts);
  return { state: "done", ran: true, report: await run(place, settings, { ids, options }) };
}

async function placeOf({ agentId, sessionKey }: Occasion, settings: HeartbeatSettings, kit: Kit): Promise<Place> {
  if (sessionKey !== undefined && sessionKey !== mainSessionKey(agentId)) return { sessionKey, fresh: false, eventsFrom: sessionKey };
  const own = kit.directory.resolve({ agentId, sessionKey: sessionKey ?? settings.session }).sessionKey;
  // Events come to the main session unless they name another one.
  const eventsFrom = (await hasEvents(kit, own)) ? own : mainSessionKey(agentId);
  return { sessionKey: settings.isolatedSession ? `${own}:heartbeat` : own, fresh: settings.isolatedSession, eventsFrom };
}

async function hasEvents(kit: Kit, sessionKey: string): Promise<boolean> {
  return (await kit.store().systemEvents.pending(sessionKey, 1)).length > 0;
}

/** Nothing is asked for, so no model is asked. */
async function reasonToRest(
  { eventsFrom }: Place,
  settings: HeartbeatSettings,
  { agentId, kit }: { agentId: string; kit: Kit },
): Promise<SkipReason | undefined> {
  if (await hasEvents(kit, eventsFrom)) return undefined;
  const agent = kit.directory.get(agentId);
  if (await isChecklistBlank(agent.workspace)) return "empty-checklist";
  const model = settings.model === undefined ? kit.models.standard(agent) : undefined;
  // The embedded provider finds passages; it cannot work through a checklist.
  return model && kit.catalog.provider(model.provider)?.embedded ? "no-language-model" : undefined;
}

async function refusedBy({ agentId, reason }: Occasion, { sessionKey }: Place, { ctx }: Kit): Promise<string | undefined> {
  if (!ctx.isHookUsed("heartbeat.before")) return undefined;
  const verdict = await ctx.runHook("heartbeat.before", { agentId, sessionKey, reason }, { agentId, sessionKey });
  return verdict.block ? verdict.reason : undefined;
}

async function run(
  place: Place,
  settings: HeartbeatSettings,
  { ids, options }: { ids: Pick<HeartbeatReport, "ts" | "agentId">; options: BeatOptions },
): Promise<HeartbeatReport> {
  const { clock } = options.kit.ctx;
  const begun = clock.monotonic();
  const started = await options.runner.start(
    {
      message: settings.prompt,
      trigger: "heartbeat",
      agentId: ids.agentId,
      sessionKey: place.sessionKey,
      ...(settings.model === undefined ? {} : { model: settings.model }),
      ...(settings.timeoutMs === undefined ? {} : { timeoutMs: settings.timeoutMs }),
      actor: { kind: "internal", scopes: [] },
    },
    {
      ...(place.fresh ? { fresh: "new" } : {}),
      heartbeat: { ackMaxChars: settings.ackMaxChars, lightContext: settings.lightContext, eventsFrom: place.eventsFrom },
    },
  );
  if (started.state === "finished") throw new Error("a heartbeat got the id of a run that has ended");
  const outcome = await started.run.done;
  const all = { ...ids, sessionKey: place.sessionKey, durationMs: Math.round(clock.monotonic() - begun) };
  const visibility = visibilityOf(options.kit.config, await audienceOf(place, settings, options.kit));
  if (outcome.status === "error")
    return indicated(failed(all, { code: outcome.code, message: outcome.error ?? "the run failed" }), visibility);
  const reply = judgeReply(lastText(started.run), settings.ackMaxChars);
  const deliver = (text: string) => {
    const { target: channel, to, accountId } = settings;
    const route = { channel, ...(to === undefined ? {} : { to }), ...(accountId === undefined ? {} : { accountId }) };
    return deliverNews({ runId: started.run.id, agentId: ids.agentId, sessionKey: place.sessionKey, text, ...route }, options.kit);
  };
  const hasTarget = settings.target !== "none";
  if (reply.kind !== "news") {
    if (reply.kind === "ack" && hasTarget && visibility.showOk) await deliver(reply.rest === "" ? NOTHING_NEW : reply.rest);
    return indicated(told(all, reply), visibility);
  }
  const hidden = { status: "skipped", reason: "alerts-hidden" } as const;
  const delivery = !hasTarget ? undefined : visibility.showAlerts ? await deliver(reply.text) : hidden;
  return indicated(news(all, reply.text, { ...settings, delivery }), visibility);
}

/** The channel whose people see the heartbeat; undefined where nobody does. */
async function audienceOf(
  { sessionKey }: Place,
  { target, accountId }: HeartbeatSettings,
  kit: Kit,
): Promise<{ channel: string; accountId?: string } | undefined> {
  if (target === "none") return undefined;
  if (target !== "last") return { channel: target, ...(accountId === undefined ? {} : { accountId }) };
  const route = await lastRouteOf(sessionKey, kit);
  return route && { channel: route.channel, ...(route.accountId === undefined ? {} : { accountId: route.accountId }) };
}

function indicated(report: HeartbeatReport, { useIndicator }: Visibility): HeartbeatReport {
  const { indicatorType: _, ...rest } = report;
  return useIndicator ? report : rest;
}

/** Final text of the agent; text between tool calls is not an answer. */
function lastText({ texts }: Run): string {
  return texts.at(-1) ?? "";
}
