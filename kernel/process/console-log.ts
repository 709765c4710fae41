import { isLogged, type LogLevel } from "../../sdk/log-levels.ts";
import { printable } from "../../sdk/text/printable.ts";
import { toLogLine } from "./log-line.ts";
import type { LogRecord, LogSink } from "./logger.ts";

/** Forms on the console, as in `logging.consoleStyle`. */
export type ConsoleStyle = "pretty" | "compact" | "json";

/** Destination of log lines. */
export interface ConsoleStream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
}

type Paint = (text: string) => string;

export interface ConsoleOptions {
  level(): LogLevel;
  /** Undefined: `pretty` on a terminal, else `compact`. */
  style?: () => ConsoleStyle | undefined;
  /** Colours of the level on a terminal; absent: none. */
  paint?: Partial<Record<LogRecord["level"], Paint>>;
}

const plain: Paint = (text) => text;

/**
 * Lines for people or programs. `pretty`: `12:03:44 info  [gateway/hooks] message key=value`, coloured on a terminal; `compact`: the same, one line a record,
 * no padding, no colour; `json`: the lines of the log file. Level and style are asked for at each record: they may change while the gateway runs.
 */
export function consoleSink(out: ConsoleStream, { level, style, paint = {} }: ConsoleOptions): LogSink {
  return (record) => {
    if (!isLogged(record.level, level())) return;
    const form = style?.() ?? (out.isTTY ? "pretty" : "compact");
    if (form === "json") out.write(toLogLine(record, process.pid));
    else out.write(form === "pretty" ? pretty(record, (out.isTTY && paint[record.level]) || plain) : compact(record));
  };
}

function pretty(record: LogRecord, paint: Paint): string {
  return `${timeOf(record)} ${paint(record.level.padEnd(5))} [${record.subsystem}] ${linesOf(record).join("\n    ")}\n`;
}

function compact(record: LogRecord): string {
  return `${timeOf(record)} ${record.level} [${record.subsystem}] ${linesOf(record).join("\\n")}\n`;
}

function timeOf({ ts }: LogRecord): string {
  return new Date(ts).toTimeString().slice(0, 8);
}

/** Text from outside may neither forge a line nor drive the terminal: its lines are told apart by the caller, control characters are shown. */
function linesOf({ message, fields = {} }: LogRecord): string[] {
  const pairs = Object.entries(fields).map(([k, v]) => ` ${k}=${typeof v === "string" ? v : JSON.stringify(v)}`);
  return `${message}${pairs.join("")}`.split(/\r?\n/).map(printable);
}
