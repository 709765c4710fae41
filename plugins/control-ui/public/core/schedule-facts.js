import { texts } from "../texts/schedule.js";
import { age, count, moment, plural, span } from "./format.js";

/**
 * Facts shown about jobs and heartbeats. Pure.
 *
 * @typedef {{ kind: "at", at: string } | { kind: "every", everyMs: number, anchorMs?: number } | { kind: "cron", expr: string, tz?: string, staggerMs?: number }} When
 * @typedef {{ kind: "systemEvent", text: string } | { kind: "agentTurn", message: string, model?: string, thinking?: string, timeoutSeconds?: number }} Work
 * @typedef {{ mode: "none" | "announce", channel?: string, to?: string, accountId?: string, threadId?: string, bestEffort?: boolean }} Delivery
 * @typedef {{ nextRunAtMs?: number, lastRunAtMs?: number, lastStatus?: "ok" | "error" | "skipped" | "interrupted", lastError?: string, lastDurationMs?: number,
 *   runningAtMs?: number, forcedAtMs?: number, consecutiveErrors: number }} JobState
 * @typedef {{ id: string, name: string, agentId?: string, enabled: boolean, origin?: "person", deleteAfterRun?: boolean, schedule: When,
 *   sessionTarget: "main" | "isolated", wakeMode: "now" | "next-heartbeat", payload: Work, delivery?: Delivery, state: JobState, nextRunAtMs?: number }} Job
 * @typedef {{ enabled: boolean, jobs: number, running: number, nextWakeAtMs?: number, broken?: string[] }} Status
 * @typedef {{ ts: number, status: "ok" | "error" | "skipped", error?: string, summary?: string, runId: string, runAtMs: number, durationMs: number }} Run
 * @typedef {{ agentId: string, enabled: boolean, every: string, everyMs: number, target: string, lastRunAt?: number, nextRunAt?: number }} Plan
 * @typedef {{ ts: number, agentId?: string, status: "sent" | "ok-empty" | "ok-token" | "skipped" | "failed", reason?: string, preview?: string }} Beat
 * @typedef {{ word: string, level: "ok" | "info" | "warn" | "bad" | "busy" | "" }} State
 */

const dayNames = [
  texts.sundays,
  texts.mondays,
  texts.tuesdays,
  texts.wednesdays,
  texts.thursdays,
  texts.fridays,
  texts.saturdays,
  texts.sundays,
];
const isNumber = /^\d{1,2}$/;

/** A word and a colour for how a job is. @param {Job} job @returns {State} */
export function stateOf({ enabled, state }) {
  if (state.runningAtMs !== undefined) return { word: texts.running, level: "busy" };
  if (state.forcedAtMs !== undefined) return { word: texts.waitsRun, level: "busy" };
  if (!enabled) return state.lastStatus === "error" ? { word: texts.offFailed, level: "bad" } : { word: texts.off, level: "" };
  if (state.lastStatus === "error") return { word: texts.failed, level: "bad" };
  if (state.lastStatus === "interrupted") return { word: texts.interrupted, level: "warn" };
  if (state.lastStatus === "skipped") return { word: texts.skipped, level: "info" };
  return state.lastStatus === "ok" ? { word: texts.ok, level: "ok" } : { word: texts.notRun, level: "" };
}

/** Short facts of a job, in the order shown. @param {Job} job @param {number} now */
export function factsOf({ agentId, enabled, nextRunAtMs, state }, now) {
  const { lastRunAtMs, lastDurationMs, consecutiveErrors } = state;
  const next = !enabled || nextRunAtMs === undefined ? undefined : nextRunAtMs > now ? texts.nextIn(span(nextRunAtMs - now)) : texts.dueNow;
  const took = lastDurationMs === undefined || lastDurationMs < 1_000 ? "" : texts.took(span(lastDurationMs));
  return /** @type {string[]} */ (
    [
      next,
      lastRunAtMs === undefined ? undefined : texts.lastRun({ lastRunAtMs: age(lastRunAtMs, now), took }),
      consecutiveErrors > 1 ? texts.failuresRow(count(consecutiveErrors)) : undefined,
      agentId,
    ].filter((fact) => fact !== undefined)
  );
}

/** Times of a job in words; a crontab that has no short ones as it is written. @param {When} schedule */
export function whenWords(schedule) {
  if (schedule.kind === "at") return texts.once(moment(Date.parse(schedule.at)));
  if (schedule.kind === "every") return texts.every(intervalWords(schedule.everyMs));
  return `${cronWords(schedule.expr) ?? schedule.expr}${schedule.tz ? `, ${schedule.tz}` : ""}`;
}

/** "1 h 30 min". @param {number} ms */
export function intervalWords(ms) {
  /** @type {Array<[number, string]>} */
  const units = [
    [86_400_000, texts.units.d],
    [3_600_000, texts.units.h],
    [60_000, texts.units.min],
    [1_000, texts.units.s],
    [1, texts.units.ms],
  ];
  let left = Math.max(0, Math.round(ms));
  const parts = [];
  for (const [size, unit] of units) {
    const amount = Math.floor(left / size);
    left -= amount * size;
    if (amount > 0) parts.push(`${amount} ${unit}`);
  }
  return parts.join(" ") || `0 ${texts.units.s}`;
}

/** Words for the crontabs that people write most; undefined for another. @param {string} expr */
function cronWords(expr) {
  const [minute = "", hour = "", date, month, weekday = "", more] = expr.trim().split(/\s+/);
  if (more !== undefined || date !== "*" || month !== "*") return undefined;
  if (hour === "*" && weekday === "*") {
    if (minute === "0") return texts.everyHour;
    if (minute.startsWith("*/") && isNumber.test(minute.slice(2))) return texts.everyMin(minute.slice(2));
  }
  const days = daysWords(weekday);
  if (!isNumber.test(minute) || !isNumber.test(hour) || days === undefined) return undefined;
  return texts.daysAt({ days, hour: hour.padStart(2, "0"), minute: minute.padStart(2, "0") });
}

/** @param {string} weekday */
function daysWords(weekday) {
  if (weekday === "*") return texts.daily;
  if (weekday === "1-5") return texts.weekdays;
  if (weekday === "0,6" || weekday === "6,0" || weekday === "6,7") return texts.weekends;
  const name = isNumber.test(weekday) ? dayNames[Number(weekday)] : undefined;
  return name && texts.onDays(name);
}

/** Describes the work of a job. @param {Job} job */
export function workWords({ payload, delivery }) {
  const tells = delivery?.mode === "announce" ? texts.tellsAnswer : "";
  return payload.kind === "agentTurn" ? texts.asksSessionOwn(tells) : texts.leavesLineMain;
}

/** The text of a job. @param {Job} job */
export function textOf({ payload }) {
  return payload.kind === "agentTurn" ? payload.message : payload.text;
}

/** Sentence with the number of jobs and the next run. @param {Status} status @param {number} now */
export function sentenceOf({ enabled, jobs, running, nextWakeAtMs }, now) {
  if (!enabled) return texts.noneRunCron(plural(jobs, texts.jobs));
  const next =
    nextWakeAtMs === undefined ? texts.nothingDue : nextWakeAtMs > now ? texts.theNextIn(span(nextWakeAtMs - now)) : texts.oneDueNow;
  return `${plural(jobs, texts.jobs)}, ${running > 0 ? texts.runningOf(count(running)) : ""}${next}.`;
}

/** Session in which a run has asked; those of the main session have none of their own. @param {Job} job @param {Run} run @param {string} defaultAgentId */
export function sessionOf({ id, agentId, sessionTarget }, { runId, status }, defaultAgentId) {
  return sessionTarget === "main" || status === "skipped" ? undefined : `agent:${agentId ?? defaultAgentId}:cron:${id}:run:${runId}`;
}

/** Outcome of a run in words. @param {Run} run @returns {State} */
export function runState({ status }) {
  if (status === "ok") return { word: texts.ok, level: "ok" };
  return status === "skipped" ? { word: texts.skipped, level: "info" } : { word: texts.failed, level: "bad" };
}

/** A word and a colour for the heartbeat of an agent. @param {Plan} plan @returns {State} */
export function planState({ enabled, everyMs }) {
  if (everyMs === 0) return { word: texts.notPlanned, level: "" };
  return enabled ? { word: texts.stateOn, level: "ok" } : { word: texts.off, level: "" };
}

/** Short facts of a heartbeat, in the order shown. @param {Plan} plan @param {number} now */
export function planFacts({ enabled, everyMs, target, lastRunAt, nextRunAt }, now) {
  return /** @type {string[]} */ (
    [
      everyMs === 0 ? undefined : texts.every(intervalWords(everyMs)),
      target === "none" ? texts.tellsNobody : texts.tells(target),
      enabled && nextRunAt !== undefined ? (nextRunAt > now ? texts.nextWakeIn(span(nextRunAt - now)) : texts.dueNow) : undefined,
      lastRunAt === undefined ? undefined : texts.lastWake(age(lastRunAt, now)),
    ].filter((fact) => fact !== undefined)
  );
}

/** Describes the last heartbeat. @param {Beat} beat @param {number} now */
export function beatWords({ agentId, status, reason, preview, ts }, now) {
  const words = /** @type {const} */ ({
    sent: texts.hadSomethingSay,
    "ok-empty": texts.foundNothingSay,
    "ok-token": texts.foundNothingSay,
    skipped: texts.wasSkipped,
    failed: texts.failed,
  });
  const said = preview ?? reason;
  return texts.lastHeartbeat({
    agent: agentId === undefined ? "" : ` (${agentId})`,
    outcome: words[status] ?? status,
    time: age(ts, now),
    words: said ? `: ${said}` : ".",
  });
}
