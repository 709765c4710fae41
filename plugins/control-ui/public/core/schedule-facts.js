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

const dayNames = ["Sundays", "Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays", "Sundays"];
const isNumber = /^\d{1,2}$/;

/** A word and a colour for how a job is. @param {Job} job @returns {State} */
export function stateOf({ enabled, state }) {
  if (state.runningAtMs !== undefined) return { word: "running", level: "busy" };
  if (state.forcedAtMs !== undefined) return { word: "waits to run", level: "busy" };
  if (!enabled) return state.lastStatus === "error" ? { word: "off, failed", level: "bad" } : { word: "off", level: "" };
  if (state.lastStatus === "error") return { word: "failed", level: "bad" };
  if (state.lastStatus === "interrupted") return { word: "interrupted", level: "warn" };
  if (state.lastStatus === "skipped") return { word: "skipped", level: "info" };
  return state.lastStatus === "ok" ? { word: "ok", level: "ok" } : { word: "has not run", level: "" };
}

/** Short facts of a job, in the order shown. @param {Job} job @param {number} now */
export function factsOf({ agentId, enabled, nextRunAtMs, state }, now) {
  const { lastRunAtMs, lastDurationMs, consecutiveErrors } = state;
  const next = !enabled || nextRunAtMs === undefined ? undefined : nextRunAtMs > now ? `next in ${span(nextRunAtMs - now)}` : "due now";
  const took = lastDurationMs === undefined || lastDurationMs < 1_000 ? "" : `, took ${span(lastDurationMs)}`;
  return /** @type {string[]} */ (
    [
      next,
      lastRunAtMs === undefined ? undefined : `last ${age(lastRunAtMs, now)}${took}`,
      consecutiveErrors > 1 ? `${count(consecutiveErrors)} failures in a row` : undefined,
      agentId,
    ].filter((fact) => fact !== undefined)
  );
}

/** Times of a job in words; a crontab that has no short ones as it is written. @param {When} schedule */
export function whenWords(schedule) {
  if (schedule.kind === "at") return `once, ${moment(Date.parse(schedule.at))}`;
  if (schedule.kind === "every") return `every ${intervalWords(schedule.everyMs)}`;
  return `${cronWords(schedule.expr) ?? schedule.expr}${schedule.tz ? `, ${schedule.tz}` : ""}`;
}

/** "1 h 30 min". @param {number} ms */
export function intervalWords(ms) {
  /** @type {Array<[number, string]>} */
  const units = [
    [86_400_000, "d"],
    [3_600_000, "h"],
    [60_000, "min"],
    [1_000, "s"],
    [1, "ms"],
  ];
  let left = Math.max(0, Math.round(ms));
  const parts = [];
  for (const [size, unit] of units) {
    const amount = Math.floor(left / size);
    left -= amount * size;
    if (amount > 0) parts.push(`${amount} ${unit}`);
  }
  return parts.join(" ") || "0 s";
}

/** Words for the crontabs that people write most; undefined for another. @param {string} expr */
function cronWords(expr) {
  const [minute = "", hour = "", date, month, weekday = "", more] = expr.trim().split(/\s+/);
  if (more !== undefined || date !== "*" || month !== "*") return undefined;
  if (hour === "*" && weekday === "*") {
    if (minute === "0") return "every hour";
    if (minute.startsWith("*/") && isNumber.test(minute.slice(2))) return `every ${minute.slice(2)} min`;
  }
  const days = daysWords(weekday);
  if (!isNumber.test(minute) || !isNumber.test(hour) || days === undefined) return undefined;
  return `${days} at ${hour.padStart(2, "0")}:${minute.padStart(2, "0")}`;
}

/** @param {string} weekday */
function daysWords(weekday) {
  if (weekday === "*") return "daily";
  if (weekday === "1-5") return "on weekdays";
  if (weekday === "0,6" || weekday === "6,0" || weekday === "6,7") return "at weekends";
  const name = isNumber.test(weekday) ? dayNames[Number(weekday)] : undefined;
  return name && `on ${name}`;
}

/** Describes the work of a job. @param {Job} job */
export function workWords({ payload, delivery }) {
  const tells = delivery?.mode === "announce" ? ", and tells the answer" : "";
  return payload.kind === "agentTurn" ? `Asks in a session of its own${tells}` : "Leaves a line in the main session";
}

/** The text of a job. @param {Job} job */
export function textOf({ payload }) {
  return payload.kind === "agentTurn" ? payload.message : payload.text;
}

/** Sentence with the number of jobs and the next run. @param {Status} status @param {number} now */
export function sentenceOf({ enabled, jobs, running, nextWakeAtMs }, now) {
  if (!enabled) return `${plural(jobs, "job")}. None is run: cron is switched off, or the gateway is in safe mode.`;
  const next =
    nextWakeAtMs === undefined ? "nothing is due" : nextWakeAtMs > now ? `the next in ${span(nextWakeAtMs - now)}` : "one is due now";
  return `${plural(jobs, "job")}, ${running > 0 ? `${count(running)} running, ` : ""}${next}.`;
}

/** Session in which a run has asked; those of the main session have none of their own. @param {Job} job @param {Run} run @param {string} defaultAgentId */
export function sessionOf({ id, agentId, sessionTarget }, { runId, status }, defaultAgentId) {
  return sessionTarget === "main" || status === "skipped" ? undefined : `agent:${agentId ?? defaultAgentId}:cron:${id}:run:${runId}`;
}

/** Outcome of a run in words. @param {Run} run @returns {State} */
export function runState({ status }) {
  if (status === "ok") return { word: "ok", level: "ok" };
  return status === "skipped" ? { word: "skipped", level: "info" } : { word: "failed", level: "bad" };
}

/** A word and a colour for the heartbeat of an agent. @param {Plan} plan @returns {State} */
export function planState({ enabled, everyMs }) {
  if (everyMs === 0) return { word: "not planned", level: "" };
  return enabled ? { word: "on", level: "ok" } : { word: "off", level: "" };
}

/** Short facts of a heartbeat, in the order shown. @param {Plan} plan @param {number} now */
export function planFacts({ enabled, everyMs, target, lastRunAt, nextRunAt }, now) {
  return /** @type {string[]} */ (
    [
      everyMs === 0 ? undefined : `every ${intervalWords(everyMs)}`,
      target === "none" ? "tells nobody" : `tells ${target}`,
      enabled && nextRunAt !== undefined ? (nextRunAt > now ? `next in ${span(nextRunAt - now)}` : "due now") : undefined,
      lastRunAt === undefined ? undefined : `last ${age(lastRunAt, now)}`,
    ].filter((fact) => fact !== undefined)
  );
}

/** Describes the last heartbeat. @param {Beat} beat @param {number} now */
export function beatWords({ agentId, status, reason, preview, ts }, now) {
  const words = /** @type {const} */ ({
    sent: "had something to say",
    "ok-empty": "found nothing to say",
    "ok-token": "found nothing to say",
    skipped: "was skipped",
    failed: "failed",
  });
  const said = preview ?? reason;
  return `The last one${agentId === undefined ? "" : ` (${agentId})`} ${words[status] ?? status}, ${age(ts, now)}${said ? `: ${said}` : "."}`;
}
