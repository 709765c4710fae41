import type { LogRecord } from "./logger.ts";

/** Longest line with its end. */
const MAX_LINE_BYTES = 65_536;
/** Length to which the message of a longer record is cut. */
const MAX_CUT_CHARS = 8_192;
/** A field of one of these names would be mistaken for the record's own. */
const ownNames = new Set(["ts", "level", "subsystem", "msg", "pid", "plugin", "err", "truncated"]);

/** A record as one line of JSON, with its end; one that would be longer than 64 KiB loses its fields and the end of its message. */
export function toLogLine(record: LogRecord, pid: number): string {
  const { ts, level, subsystem, message, fields = {}, err } = record;
  const plugin = /^gateway\/plugin\/([^/]+)/.exec(subsystem)?.[1];
  const head = { ts: new Date(ts).toISOString(), level, subsystem };
  const tail = { pid, ...(plugin === undefined ? {} : { plugin }) };
  const line = `${JSON.stringify({ ...head, msg: message, ...tail, ...(err ? { err } : {}), ...ownFields(fields, err !== undefined) })}\n`;
  // A character of JSON text is three bytes at most.
  if (line.length * 3 <= MAX_LINE_BYTES || Buffer.byteLength(line) <= MAX_LINE_BYTES) return line;
  return `${JSON.stringify({ ...head, msg: message.slice(0, MAX_CUT_CHARS), ...tail, truncated: true })}\n`;
}

/** @param hasErr the error stands in `err`, with all its parts */
function ownFields(fields: object, hasErr: boolean): object {
  const entries = Object.entries(fields).filter(([name]) => !(hasErr && name === "error"));
  const mistakable = entries.filter(([name]) => ownNames.has(name) || name === "fields");
  if (mistakable.length === 0) return Object.fromEntries(entries);
  return { ...Object.fromEntries(entries.filter((entry) => !mistakable.includes(entry))), fields: Object.fromEntries(mistakable) };
}
