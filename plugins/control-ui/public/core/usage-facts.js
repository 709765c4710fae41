import { texts } from "../texts/parts.js";
import { count, money, plural, shortDay } from "./format.js";

/**
 * Facts shown about tokens and cost. Pure.
 *
 * @typedef {{ runs: number, replays: number, errors: number, input: number, output: number, cacheRead: number, cacheWrite: number, costUsd?: number,
 *   unpriced: number }} Totals
 * @typedef {Totals & { name: string }} UsageRow
 * @typedef {{ from: string, to: string, by: "day" | "agent" | "model", rows: UsageRow[], total: Totals }} Usage
 * @typedef {{ key: string, title?: string, input: number, output: number, context: number, costUsd?: number }} SessionUsage
 */

export const groupings = /** @type {const} */ (["day", "agent", "model"]);
export const spans = /** @type {const} */ ([7, 30, 90]);

/** Tokens of all kinds. @param {Pick<Totals, "input" | "output" | "cacheRead" | "cacheWrite">} totals */
export function tokensOf({ input, output, cacheRead, cacheWrite }) {
  return input + output + cacheRead + cacheWrite;
}

/** "$1,204.50", with more digits where there is less than a cent. @param {number | undefined} usd */
export function costWords(usd) {
  return usd === undefined ? texts.noPrice : money(usd);
}

/** Rows in the order shown: days newest first, others by what they cost, then by tokens. @param {Usage} usage */
export function inOrder({ by, rows }) {
  if (by === "day") return [...rows].sort((a, b) => (a.name < b.name ? 1 : -1));
  return [...rows].sort((a, b) => (b.costUsd ?? 0) - (a.costUsd ?? 0) || tokensOf(b) - tokensOf(a) || (a.name < b.name ? -1 : 1));
}

const MAX_DAYS = 400;

/**
 * Tokens of each day, also of those on which nothing was used.
 * @param {Usage} usage by day
 * @returns {{ days: number[], tokens: number[] }} days as epoch ms at noon, ascending
 */
export function tokensByDay({ from, to, rows }) {
  const known = new Map(rows.map((row) => [row.name, tokensOf(row)]));
  /** @type {{ days: number[], tokens: number[] }} */
  const found = { days: [], tokens: [] };
  const day = new Date(`${from}T12:00:00`);
  const end = new Date(`${to}T12:00:00`).getTime();
  for (let i = 0; i < MAX_DAYS && day.getTime() <= end; i += 1) {
    const two = (/** @type {number} */ part) => String(part).padStart(2, "0");
    const name = `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
    found.days.push(day.getTime());
    found.tokens.push(known.get(name) ?? 0);
    day.setDate(day.getDate() + 1);
  }
  return found;
}

/** Sentence beneath the chart of days. @param {{ days: number[], tokens: number[] }} known @param {(day: number) => string} sayDay */
export function daysSentence({ days, tokens }, sayDay) {
  const most = Math.max(0, ...tokens);
  if (most === 0) return texts.noTokensAny;
  const used = tokens.filter((one) => one > 0).length;
  return texts.useMost({
    used: plural(used, texts.days),
    most: plural(most, texts.tokens),
    sayDay: sayDay(/** @type {number} */ (days[tokens.indexOf(most)])),
  });
}

/** A day as a person reads it; other names stay. @param {"day" | "agent" | "model"} by @param {string} name */
export function nameWords(by, name) {
  const date = by === "day" ? new Date(`${name}T12:00:00`) : undefined;
  if (!date || Number.isNaN(date.getTime())) return name;
  return shortDay(date.getTime(), { weekday: "short" });
}

/** Sentence with the sums. @param {Usage} usage */
export function sentenceOf({ total }) {
  const failed = total.errors > 0 ? texts.themFailed(count(total.errors)) : "";
  return `${plural(total.runs, texts.runs)}${failed}, ${plural(tokensOf(total), texts.tokens)}, ${total.costUsd === undefined ? texts.unknownCost : costWords(total.costUsd)}.`;
}

/** Says what the cost leaves out; undefined when it is whole. @param {Totals} total */
export function unpricedWords({ unpriced }) {
  if (unpriced === 0) return undefined;
  return texts.priceNotKnown(plural(unpriced, texts.runs));
}
