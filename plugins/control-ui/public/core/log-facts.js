import { texts } from "../texts/logs.js";
import { count, decimal, plural } from "./format.js";

/**
 * Lines of the log as they are kept and shown. Pure.
 *
 * @typedef {{ id: number, at?: number, level: string, subsystem: string, message: string, raw: string }} LogLine
 * @typedef {{ id: number, note: string }} LogNote something that happened to the reader, between two lines
 * @typedef {LogLine | LogNote} LogRow
 * @typedef {{ file: string, cursor: number, size: number, lines: string[], truncated: boolean, reset: boolean }} Tail an answer of `logs.tail`
 * @typedef {{ file: string, cursor: number, rows: LogRow[], nextId: number, dropped: number, hasOlder: boolean }} LogState
 * @typedef {{ level: string, subsystem: string, q: string }} LogFilter
 */

/** Levels, the least first. */
export const levels = ["trace", "debug", "info", "warn", "error", "fatal"];

export const MOST_ROWS = 5_000;
/** Some lines have 64 KiB: a page keeps no more of them than this. */
const MOST_CHARS = 8_000_000;
/** Characters of a message that a row shows; the open line has all of them. */
const SHOWN_CHARS = 1_000;

/** One line; what the gateway did not write has no level, and its message is all of it. @param {string} raw @param {number} [id] @returns {LogLine} */
export function lineOf(raw, id = 0) {
  const { ts, level, subsystem, msg } = fieldsIn(raw);
  const at = typeof ts === "string" ? Date.parse(ts) : Number.NaN;
  const known = typeof level === "string" && levels.includes(level) ? level : "";
  return {
    id,
    ...(Number.isNaN(at) ? {} : { at }),
    level: known,
    subsystem: typeof subsystem === "string" ? subsystem : "",
    message: (typeof msg === "string" ? msg : raw).slice(0, SHOWN_CHARS),
    raw,
  };
}

/**
 * State after an answer of `logs.tail`: to a question with the cursor of the state, or to the first one.
 * @param {LogState | undefined} state
 * @param {Tail} tail
 * @param {LogLine[]} [lines] of the answer, as they were read
 * @returns {LogState}
 */
export function withTail(state, tail, lines = linesOf(tail)) {
  if (!state) {
    const empty = { file: tail.file, cursor: tail.cursor, rows: [], nextId: 1, dropped: 0, hasOlder: tail.truncated };
    return added(empty, { lines });
  }
  // The cursor was of the file before: this one is read from its beginning.
  if (tail.file !== state.file) return added({ ...state, file: tail.file, cursor: 0 }, { note: texts.logContinues(tail.file) });
  const note = tail.reset ? texts.logFilePut : undefined;
  return added({ ...state, cursor: tail.cursor }, { note, lines });
}

/** Is there more to read at once after this answer? @param {LogState | undefined} before @param {Tail} tail */
export function isBehind(before, tail) {
  return before !== undefined && (tail.file !== before.file || (tail.truncated && !tail.reset));
}

/** State after the newest lines were read in place of those behind the cursor, which came too fast. @param {LogState} state @param {Tail} tail @param {LogLine[]} [lines] @returns {LogState} */
export function withJump(state, tail, lines = linesOf(tail)) {
  const read = tail.lines.reduce((sum, line) => sum + line.length + 1, 0);
  const skipped = tail.file === state.file ? Math.max(0, tail.cursor - read - state.cursor) : 0;
  const note = texts.linesWereSkipped(skipped > 0 ? texts.about(sizeWords(skipped)) : "");
  return added({ ...state, file: tail.file, cursor: tail.cursor }, { note, lines });
}

/** @param {Tail} tail */
function linesOf({ lines }) {
  return lines.map((raw) => lineOf(raw));
}

/** @param {LogState} state @param {{ note?: string | undefined, lines?: LogLine[] }} more @returns {LogState} */
function added(state, { note, lines = [] }) {
  let { nextId } = state;
  const rows = [...state.rows];
  if (note !== undefined) rows.push({ id: nextId++, note });
  for (const line of lines) rows.push({ ...line, id: nextId++ });
  const from = firstKept(rows);
  return { ...state, rows: rows.slice(from), nextId, dropped: state.dropped + from };
}

/** Index of the oldest row that stays. @param {LogRow[]} rows */
function firstKept(rows) {
  let chars = 0;
  for (let i = rows.length - 1; i >= 0; i--) {
    const row = /** @type {LogRow} */ (rows[i]);
    chars += "raw" in row ? row.raw.length : row.note.length;
    if (rows.length - i > MOST_ROWS || chars > MOST_CHARS) return i + 1;
  }
  return 0;
}

/** Rows that a filter lets through; notes always. @param {LogRow[]} rows @param {LogFilter} filter @returns {LogRow[]} */
export function wanted(rows, { level, subsystem, q }) {
  const least = levels.indexOf(level);
  const words = q.trim().toLowerCase();
  if (least < 0 && subsystem === "" && words === "") return rows;
  return rows.filter((row) => {
    if ("note" in row) return true;
    if (least >= 0 && levels.indexOf(row.level) < least) return false;
    // `hooks` finds `gateway/hooks` and what is below it.
    if (subsystem !== "" && !`/${row.subsystem}/`.includes(`/${subsystem}/`)) return false;
    return words === "" || row.message.toLowerCase().includes(words) || row.raw.toLowerCase().includes(words);
  });
}

/** Number of lines, without notes, behind a place. @param {LogRow[]} rows @param {number} [after] id */
export function countLines(rows, after = 0) {
  return rows.reduce((sum, row) => sum + ("raw" in row && row.id > after ? 1 : 0), 0);
}

/** Parts of the gateway that the lines are of, without the word that all of them begin with. @param {LogRow[]} rows */
export function subsystemsIn(rows) {
  const names = new Set();
  for (const row of rows) if ("raw" in row) names.add(row.subsystem);
  names.delete("");
  return [...new Set([...names].map(shortName))].sort();
}

/** @param {string} subsystem */
export function shortName(subsystem) {
  return subsystem.startsWith("gateway/") ? subsystem.slice("gateway/".length) : subsystem;
}

/** Look of a level among the colours of states. @param {string} level */
export function lookOf(level) {
  if (level === "error" || level === "fatal") return "bad";
  return level === "warn" ? "warn" : "";
}

/**
 * Everything that a line holds, in its order; long or structured values stand in blocks of their own.
 * @param {string} raw
 * @returns {Array<{ name: string, text: string, isBlock: boolean }>}
 */
export function partsOf(raw) {
  const fields = Object.entries(fieldsIn(raw));
  if (fields.length === 0) return [{ name: "line", text: raw, isBlock: true }];
  return fields.map(([name, value]) => {
    const stack = name === "err" ? stackOf(value) : undefined;
    const text = stack ?? (typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? ""));
    return { name, text, isBlock: text.length > 120 || text.includes("\n") };
  });
}

/** "812 of 5,000 lines" or "812 lines". @param {number} shown @param {number} total */
export function sentenceOf(shown, total) {
  return shown === total ? plural(total, texts.lines) : texts.someOf({ shown: count(shown), total: plural(total, texts.lines) });
}

/** @param {unknown} value */
function stackOf(value) {
  const { stack, message } = /** @type {{ stack?: unknown, message?: unknown }} */ (value ?? {});
  const text = stack ?? message;
  return typeof text === "string" ? text : undefined;
}

/** @param {number} bytes */
function sizeWords(bytes) {
  return bytes >= 1_000_000 ? texts.mb(decimal(bytes / 1_000_000, 1, 1)) : texts.kb(Math.max(1, Math.round(bytes / 1_000)));
}

/** @param {string} raw @returns {Record<string, unknown>} */
function fieldsIn(raw) {
  try {
    const value = JSON.parse(raw);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
  } catch {
    return {};
  }
}
