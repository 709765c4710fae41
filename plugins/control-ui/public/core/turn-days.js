import { day } from "./format.js";

/** The shortest days have 23 hours. */
const SURELY_SAME_DAY_MS = 82_800_000;

/** Names of days, by the key of the first turn of each. Pure. @param {import("./turns.js").Turn[]} turns @param {number} now */
export function daysOf(turns, now) {
  let [start, name] = [Number.NaN, ""];
  const days = /** @type {Map<string, string>} */ (new Map());
  for (const { key, items } of turns) {
    const first = items.find((item) => "at" in item);
    if (!first || !("at" in first) || (first.at >= start && first.at < start + SURELY_SAME_DAY_MS)) continue;
    start = new Date(first.at).setHours(0, 0, 0, 0);
    const before = name;
    name = day(first.at, now);
    if (name !== before) days.set(key, name);
  }
  return days;
}
