import { texts } from "../texts/frame.js";
import { clock, count, plural } from "./format.js";

/**
 * Figures of the gateway over time. Pure.
 *
 * @typedef {"delay" | "rss" | "runs" | "tokens" | "waiting" | "unindexed"} Figure
 * @typedef {{ times: number[], values: Array<number | null> }} Column `times` in epoch ms, ascending; null where nothing was measured
 * @typedef {{ at: number, tokens: number }} EndedRun
 */

export const EVERY_MS = 5_000;
const POINTS = 360;
/** Time that the charts show. */
export const SHOWN_MS = EVERY_MS * POINTS;
const MINUTE_MS = 60_000;

/**
 * Keeps the newest points of several figures. A point that comes much later than due leaves a gap.
 * @param {readonly Figure[]} figures
 * @param {number} [size]
 */
export function createRing(figures, size = POINTS) {
  const times = new Float64Array(size);
  const values = new Map(figures.map((figure) => [figure, new Float64Array(size)]));
  let written = 0;
  let last = Number.NEGATIVE_INFINITY;

  /** @param {number} at @param {Partial<Record<Figure, number | undefined>>} point */
  const write = (at, point) => {
    times[written % size] = at;
    for (const [figure, list] of values) list[written % size] = point[figure] ?? Number.NaN;
    written += 1;
    last = at;
  };
  return {
    /** @param {number} at epoch ms @param {Partial<Record<Figure, number | undefined>>} point what is missing was not measured */
    push(at, point) {
      // The clock was set back: what is there has no place on the same axis.
      if (at <= last) written = 0;
      else if (written > 0 && at - last > 2.5 * EVERY_MS) write(last + EVERY_MS, {});
      write(at, point);
    },
    /** @param {Figure} figure @returns {Column} */
    column(figure) {
      const list = values.get(figure);
      const from = Math.max(0, written - size);
      const order = Array.from({ length: written - from }, (_, i) => (from + i) % size);
      return {
        times: order.map((i) => /** @type {number} */ (times[i])),
        values: order.map((i) => (list === undefined || Number.isNaN(list[i]) ? null : /** @type {number} */ (list[i]))),
      };
    },
  };
}

/** Newest and largest value of a column; undefined where nothing was measured. @param {Column} column */
export function summaryOf({ times, values }) {
  let mostAt = -1;
  let last;
  for (const [i, value] of values.entries()) {
    if (value === null) continue;
    last = value;
    if (mostAt < 0 || value > /** @type {number} */ (values[mostAt])) mostAt = i;
  }
  if (last === undefined) return undefined;
  return { last, most: /** @type {number} */ (values[mostAt]), mostAt: /** @type {number} */ (times[mostAt]) };
}

/** @param {number} value */
function few(value) {
  return count(value < 10 ? Math.round(value * 10) / 10 : Math.round(value));
}

/** @typedef {{ figure: Figure, title: string, say: (value: number) => string, none: string }} ChartFacts `none`: the sentence while nothing was measured */

/** @type {readonly ChartFacts[]} */
export const charts = [
  { figure: "delay", title: texts.eventLoopDelay, say: (value) => texts.ms(few(value)), none: texts.notMeasuredYet },
  { figure: "rss", title: texts.memoryProcess, say: (value) => texts.mb(few(value / 1e6)), none: texts.notMeasuredYet },
  { figure: "runs", title: texts.runsPerMinute, say: (value) => plural(value, texts.runs), none: texts.firstMinuteBeing },
  { figure: "tokens", title: texts.tokensPerMinute, say: (value) => plural(value, texts.tokens), none: texts.firstMinuteBeing },
  { figure: "waiting", title: texts.runsWait, say: (value) => (value === 0 ? texts.none : count(value)), none: texts.notKnownYet },
  { figure: "unindexed", title: texts.leftIndex, say: (value) => (value === 0 ? texts.nothing : count(value)), none: texts.memoryNotUse },
];

/** Sentence beneath a chart: "4 ms, at most 38 ms at 14:02." @param {ChartFacts} facts @param {Column} column */
export function sentenceOf({ say, none }, column) {
  const summary = summaryOf(column);
  if (!summary) return none;
  const { last, most, mostAt } = summary;
  return most === last ? `${say(last)}.` : texts.atMost({ value: say(last), most: say(most), time: clock(mostAt) });
}

/**
 * Runs and tokens of the last minute; undefined until a whole minute was counted, because less would be a false answer.
 * @param {readonly EndedRun[]} ended
 * @param {{ now: number, since: number }} time `since`: when counting began
 */
export function lastMinute(ended, { now, since }) {
  if (now - since < MINUTE_MS) return {};
  const recent = ended.filter(({ at }) => now - at < MINUTE_MS);
  return { runs: recent.length, tokens: recent.reduce((sum, { tokens }) => sum + tokens, 0) };
}

/** Runs that are accepted and do not work yet. @param {ReadonlyArray<{ status?: string, activeRunIds?: readonly string[] }>} rows */
export function waitingRuns(rows) {
  return rows.reduce((sum, { status, activeRunIds = [] }) => sum + Math.max(0, activeRunIds.length - (status === "running" ? 1 : 0)), 0);
}

/** Bounds of an axis that begins at zero. @param {number | null} most */
export function fromZero(most) {
  return /** @type {[number, number]} */ ([0, most && most > 0 ? most * 1.1 : 1]);
}
