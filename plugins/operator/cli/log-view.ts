import { isRecord, printable } from "svc/sdk";
import { isLogged, type LogLevel, logLevels, parseJson } from "svc/sdk/internal";

/** A line of the log file as a reader gets it; `raw` is one that svc did not write. */
export type LogLine =
  | { type: "log"; ts: string; level: LogLevel; subsystem: string; message: string; fields: Record<string, unknown> }
  | { type: "raw"; line: string };

/** Reads one line of the log file. Never throws. */
export function parseLogLine(line: string): LogLine {
  const { ts, level, subsystem, msg, ...fields } = asRecord(line);
  const isOurs = typeof ts === "string" && typeof subsystem === "string" && typeof msg === "string" && !Number.isNaN(Date.parse(ts));
  const known = logLevels.find((name) => name === level);
  return isOurs && known ? { type: "log", ts, level: known, subsystem, message: msg, fields } : { type: "raw", line };
}

function asRecord(line: string): Record<string, unknown> {
  try {
    const value: unknown = parseJson(line);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

/** True for a line of at least this level and of this subsystem or one below it. A raw line has neither and passes only without a filter. */
export function isWantedLogLine(
  line: LogLine,
  { level, subsystem }: { level?: LogLevel | undefined; subsystem?: string | undefined },
): boolean {
  if (line.type === "raw") return level === undefined && subsystem === undefined;
  if (level !== undefined && !isLogged(line.level, level)) return false;
  // `hooks` finds `gateway/hooks` and what is below it.
  return subsystem === undefined || `/${line.subsystem}/`.includes(`/${subsystem}/`);
}

/** Style of log lines for people. */
export interface LogLineStyle {
  /** ISO time in UTC instead of the local time of day. */
  utc?: boolean;
  /** Colours of the level; absent: none. */
  paint?: Partial<Record<LogLevel, (text: string) => string>>;
}

/**
 * `12:03:44 info  [gateway/hooks] accepted wake key=value`. Text from outside can neither forge a line nor drive the terminal: further lines are
 * indented, control characters are shown.
 */
export function formatLogLine(line: LogLine, { utc = false, paint = {} }: LogLineStyle = {}): string {
  if (line.type === "raw") return clean(line.line);
  const { ts, level, subsystem, message, fields } = line;
  const time = utc ? new Date(ts).toISOString() : new Date(ts).toTimeString().slice(0, 8);
  const name = (paint[level] ?? ((text: string) => text))(level.padEnd(5));
  const text = `[${subsystem}] ${message}${pairsOf(fields)}`;
  return `${time} ${name} ${text.split(/\r?\n/).map(clean).join("\n    ")}`;
}

/** The record's own fields; those of the process are the same on each line. */
function pairsOf({ pid: _, plugin: __, err, ...fields }: Record<string, unknown>): string {
  const cause = (err as { message?: unknown } | undefined)?.message;
  const pairs = Object.entries(fields).map(([key, value]) => ` ${key}=${typeof value === "string" ? value : JSON.stringify(value)}`);
  return `${pairs.join("")}${typeof cause === "string" ? ` error=${cause}` : ""}`;
}

function clean(text: string): string {
  return printable(text);
}
