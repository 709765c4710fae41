import { isNativeError } from "node:util/types";
import { messageOf } from "../../sdk/errors.ts";
import { isLogged, type LogLevel } from "../../sdk/log-levels.ts";
import type { LazyFields, LogFields, Logger } from "../../sdk/types/common.ts";
import type { FlagLevels } from "./log-flags.ts";
import { createRedactor } from "./log-redact.ts";

/** One line of the log, before it is written. */
export interface LogRecord {
  ts: number;
  level: "trace" | "debug" | "info" | "warn" | "error";
  subsystem: string;
  message: string;
  /** Below the level of the log: a flag asks for it. */
  isFlagged?: true;
  /** Redacted; an error reads as its stack. */
  fields?: LogFields;
  /** The parts of `fields.error`, when that was an error. */
  err?: { name: string; message: string; code?: string; stack?: string };
}

/** Takes finished, redacted records. */
export type LogSink = (record: LogRecord) => void;

export interface RootLogger extends Logger {
  /** Values that must never be printed from now on; short ones are ignored because they would blank ordinary words. */
  addSecret(value: string | undefined): void;
  /** Masks matches of these regular expressions from now on; they are read at each record, so a new config applies at once. */
  redactWith(patterns: () => readonly string[]): void;
  /** A text of any length as the log would show it. */
  redactText(text: string): Promise<string>;
  close(): void;
}

/**
 * The process's logger: every record is redacted once and handed to all sinks.
 * @param least least level that any sink writes, asked for at each call: below it nothing is made or redacted
 * @param flagged least level of a subsystem that logs more than that
 */
export function createLogger(
  sinks: LogSink[],
  now: () => number = Date.now,
  least: () => LogLevel = () => "trace",
  flagged: FlagLevels = () => undefined,
): RootLogger {
  const redactor = createRedactor();
  let closed = false;
  const write = (level: LogRecord["level"], subsystem: string, message: string, given?: LazyFields) => {
    if (closed) return;
    const isUsual = isLogged(level, least());
    if (!isUsual && !isLogged(level, flagged(subsystem) ?? "silent")) return;
    const fields = typeof given === "function" ? madeBy(given) : given;
    const clean = redactor.redact(message, { fields, err: partsOf(fields?.error) });
    const record: LogRecord = { ts: now(), level, subsystem, message: clean.message };
    if (!isUsual) record.isFlagged = true;
    if (clean.fields.fields) record.fields = clean.fields.fields;
    if (clean.fields.err) record.err = clean.fields.err;
    for (const sink of sinks) sink(record);
  };
  const make = (subsystem: string): Logger => ({
    trace: (m, f) => write("trace", subsystem, m, f),
    debug: (m, f) => write("debug", subsystem, m, f),
    info: (m, f) => write("info", subsystem, m, f),
    warn: (m, f) => write("warn", subsystem, m, f),
    error: (m, f) => write("error", subsystem, m, f),
    child: (name) => make(`${subsystem}/${name}`),
  });
  return {
    ...make("gateway"),
    addSecret: redactor.addSecret,
    redactWith: redactor.usePatterns,
    redactText: redactor.redactText,
    close() {
      closed = true;
    },
  };
}

/** A fault in what only a log line wants must not reach the work that is logged. */
function madeBy(make: () => LogFields): LogFields {
  try {
    return make();
  } catch (error) {
    return { error };
  }
}

/** Undefined for what is no error, and for one whose parts cannot be read. */
function partsOf(error: unknown): LogRecord["err"] {
  if (!isNativeError(error)) return undefined;
  try {
    const { name, stack } = error;
    const code = (error as NodeJS.ErrnoException).code;
    return {
      name: String(name),
      message: messageOf(error),
      ...(typeof code === "string" ? { code } : {}),
      ...(typeof stack === "string" ? { stack } : {}),
    };
  } catch {
    return undefined;
  }
}
