import { texts } from "../texts/schedule.js";

/**
 * A job as it stands in the form, and back. Pure.
 *
 * @typedef {import("./schedule-facts.js").Job} Job
 * @typedef {import("./schedule-facts.js").When} When
 * @typedef {import("./schedule-facts.js").Work} Work
 * @typedef {{ name: string, kind: "cron" | "every" | "at", expr: string, tz: string, every: string, unit: keyof typeof units, at: string,
 *   target: "isolated" | "main", text: string, model: string, wakeMode: "now" | "next-heartbeat", agentId: string, announce: boolean, channel: string, to: string,
 *   isOnce: boolean }} Draft
 */

/** Units of an interval, ms. */
export const units = { seconds: 1_000, minutes: 60_000, hours: 3_600_000, days: 86_400_000 };

const LONGEST_NAME = 200;
const LONGEST_TEXT = 32_768;
const SHORTEST_MS = 1_000;
const LONGEST_MS = 31_622_400_000;

/** Draft of a new job: an example that works as it stands. @param {string} tz zone of the browser @returns {Draft} */
export function exampleDraft(tz) {
  return {
    name: texts.morningSummary,
    kind: "cron",
    expr: "0 7 * * 1-5",
    tz,
    every: "30",
    unit: "minutes",
    at: "",
    target: "isolated",
    text: texts.lookThroughMy,
    model: "",
    wakeMode: "now",
    agentId: "",
    announce: true,
    channel: "",
    to: "",
    isOnce: false,
  };
}

/** @param {Job} job @returns {Draft} */
export function draftOf({ name, schedule, sessionTarget, payload, wakeMode, agentId = "", delivery, deleteAfterRun = false }) {
  const empty = exampleDraft("");
  return {
    ...empty,
    name,
    kind: schedule.kind,
    target: sessionTarget,
    wakeMode,
    agentId,
    isOnce: deleteAfterRun,
    ...(schedule.kind === "cron" ? { expr: schedule.expr, tz: schedule.tz ?? "" } : {}),
    ...(schedule.kind === "every" ? intervalOf(schedule.everyMs) : {}),
    ...(schedule.kind === "at" ? { at: toLocalTime(Date.parse(schedule.at)) } : {}),
    ...(payload.kind === "agentTurn" ? { text: payload.message, model: payload.model ?? "" } : { text: payload.text }),
    announce: delivery?.mode === "announce",
    channel: delivery?.channel ?? "",
    to: delivery?.to ?? "",
  };
}

/** Problems of a draft, by field; the gateway checks the rest. @param {Draft} draft @returns {Partial<Record<keyof Draft, string>>} */
export function problemsOf({ name, kind, expr, every, unit, at, text }) {
  /** @type {Partial<Record<keyof Draft, string>>} */
  const problems = {};
  if (name.trim() === "") problems.name = texts.nameNeeded;
  if (name.trim().length > LONGEST_NAME) problems.name = texts.mostCharacters(LONGEST_NAME);
  if (text.trim() === "") problems.text = texts.textNeeded;
  if (text.length > LONGEST_TEXT) problems.text = texts.atMostCharacters;
  if (kind === "cron" && expr.trim().split(/\s+/).length !== 5) problems.expr = texts.fiveFieldsMinute;
  const everyMs = Number(every) * units[unit];
  if (kind === "every" && !(everyMs >= SHORTEST_MS && everyMs <= LONGEST_MS)) problems.every = texts.numberOneSecond;
  if (kind === "at" && Number.isNaN(Date.parse(at))) problems.at = texts.dateTimeNeeded;
  return problems;
}

/**
 * Parameters of `cron.add`. What the form does not show is kept from the job that is edited.
 * @param {Draft} draft
 * @param {Job} [job]
 */
export function paramsOf(draft, job) {
  const { name, target, wakeMode, agentId, isOnce } = draft;
  const isOwn = target === "isolated";
  return {
    name: name.trim(),
    schedule: scheduleOf(draft, job?.schedule),
    sessionTarget: target,
    wakeMode,
    payload: payloadOf(draft, job?.payload),
    ...(agentId === "" ? {} : { agentId }),
    ...(isOwn && draft.announce ? { delivery: deliveryOf(draft, job?.delivery) } : {}),
    ...(isOnce ? { deleteAfterRun: true } : {}),
  };
}

/** Parts of a job that the form has changed; undefined when there is none. @param {Draft} draft @param {Job} job @returns {Record<string, unknown> | undefined} */
export function patchOf(draft, job) {
  const [before, after] = [
    /** @type {Record<string, unknown>} */ (paramsOf(draftOf(job), job)),
    /** @type {Record<string, unknown>} */ (paramsOf(draft, job)),
  ];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const changed = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  if (changed.length === 0) return undefined;
  return Object.fromEntries(changed.map((name) => [name, after[name] ?? (name === "deleteAfterRun" ? false : null)]));
}

/** @param {Draft} draft @param {When | undefined} before @returns {When} */
function scheduleOf({ kind, expr, tz, every, unit, at }, before) {
  if (kind === "at") return { kind, at: new Date(at).toISOString() };
  if (kind === "every") {
    const everyMs = Math.round(Number(every) * units[unit]);
    const isSame = before?.kind === "every" && before.everyMs === everyMs;
    return { kind, everyMs, ...(isSame && before.anchorMs !== undefined ? { anchorMs: before.anchorMs } : {}) };
  }
  const stagger = before?.kind === "cron" && before.staggerMs !== undefined ? { staggerMs: before.staggerMs } : {};
  return { kind, expr: expr.trim(), ...(tz.trim() === "" ? {} : { tz: tz.trim() }), ...stagger };
}

/** @param {Draft} draft @param {Work | undefined} before @returns {Work} */
function payloadOf({ target, text, model }, before) {
  if (target === "main") return { kind: "systemEvent", text: text.trim() };
  const { model: _, ...kept } = before?.kind === "agentTurn" ? before : {};
  return { ...kept, kind: "agentTurn", message: text.trim(), ...(model.trim() === "" ? {} : { model: model.trim() }) };
}

/** @param {Draft} draft @param {import("./schedule-facts.js").Delivery | undefined} before */
function deliveryOf({ channel, to }, before) {
  const { channel: _, to: __, ...kept } = before?.mode === "announce" ? before : { mode: /** @type {const} */ ("announce") };
  return { ...kept, ...(channel.trim() === "" ? {} : { channel: channel.trim() }), ...(to.trim() === "" ? {} : { to: to.trim() }) };
}

/** The largest unit that fits without a rest. @param {number} ms @returns {{ every: string, unit: keyof typeof units }} */
function intervalOf(ms) {
  const names = /** @type {Array<keyof typeof units>} */ (["days", "hours", "minutes"]);
  const unit = names.find((name) => ms % units[name] === 0) ?? "seconds";
  return { every: String(ms / units[unit]), unit };
}

/** As a field for date and time has it, in the zone of the browser. @param {number} ms */
function toLocalTime(ms) {
  if (Number.isNaN(ms)) return "";
  const date = new Date(ms);
  return new Date(ms - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
