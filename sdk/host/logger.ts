import { createWriteStream, mkdirSync, type WriteStream } from "node:fs";
import { join } from "node:path";
import type { LogFields, Logger } from "../types/common.ts";

export const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

export interface LogRecord {
  ts: number;
  level: "debug" | "info" | "warn" | "error";
  subsystem: string;
  message: string;
  fields?: LogFields;
}

/** Takes finished, redacted records. */
export type LogSink = (record: LogRecord) => void;

export interface RootLogger extends Logger {
  /** Values that must never be printed from now on; short ones are ignored because they would blank ordinary words. */
  addSecret(value: string | undefined): void;
  close(): void;
}

const REDACTED = "[redacted]";
const MIN_SECRET_CHARS = 6;
const MAX_DEPTH = 6;
const sensitiveName = /(token|password|secret|api[-_]?key|authorization|credential|cookie)s?$/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these are taken out: C0, C1 and what turns the direction of text
const unprintable = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** The process's logger: every record is redacted once and handed to all sinks. */
export function createLogger(sinks: LogSink[], now: () => number = Date.now): RootLogger {
  let secrets: string[] = [];
  let closed = false;
  const write = (level: LogRecord["level"], subsystem: string, message: string, fields?: LogFields) => {
    if (closed) return;
    const record: LogRecord = { ts: now(), level, subsystem, message: redactText(message, secrets) };
    if (fields) record.fields = redactValue(fields, secrets, 0) as LogFields;
    for (const sink of sinks) sink(record);
  };
  const make = (subsystem: string): Logger => ({
    debug: (m, f) => write("debug", subsystem, m, f),
    info: (m, f) => write("info", subsystem, m, f),
    warn: (m, f) => write("warn", subsystem, m, f),
    error: (m, f) => write("error", subsystem, m, f),
    child: (name) => make(`${subsystem}/${name}`),
  });
  return {
    ...make("gateway"),
    addSecret(value) {
      if (!value || value.length < MIN_SECRET_CHARS) return;
      // Longest first: replacing one must not leave the rest of another that begins like it.
      secrets = [...new Set([...secrets, value])].sort((a, b) => b.length - a.length);
    },
    close() {
      closed = true;
    },
  };
}

function redactText(text: string, secrets: readonly string[]): string {
  let out = text;
  for (const secret of secrets) out = out.replaceAll(secret, REDACTED);
  return out.replace(/\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${REDACTED}`);
}

function redactValue(value: unknown, secrets: readonly string[], depth: number): unknown {
  if (typeof value === "string") return redactText(value, secrets);
  if (value instanceof Error) return redactText(value.stack ?? value.message, secrets);
  if (typeof value === "bigint") return String(value); // JSON has none, and a log call never throws
  if (typeof value !== "object" || value === null) return value;
  if (depth > MAX_DEPTH) return "[too deep]";
  if (Array.isArray(value)) return value.slice(0, 100).map((v) => redactValue(v, secrets, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([k, v]) => {
      const holdsText = typeof v === "string" || (typeof v === "object" && v !== null);
      return [k, holdsText && sensitiveName.test(k) ? REDACTED : redactValue(v, secrets, depth + 1)];
    }),
  );
}

/** The level is asked for at each record: it may change while the gateway runs. */
function isLogged(record: LogRecord, level: LogLevel): boolean {
  return logLevels.indexOf(record.level) >= logLevels.indexOf(level);
}

/** Text from outside may neither forge a line nor drive the terminal: later lines are indented, control characters go. */
function printable(text: string): string {
  return text
    .split(/\r?\n/)
    .map((line) => line.replace(unprintable, "\uFFFD"))
    .join("\n    ");
}

/** Human lines: `12:03:44 info  [gateway/hooks] message key=value`. */
export function consoleSink(out: { write(text: string): unknown }, level: () => LogLevel): LogSink {
  return (record) => {
    if (!isLogged(record, level())) return;
    const time = new Date(record.ts).toTimeString().slice(0, 8);
    const fields = Object.entries(record.fields ?? {}).map(([k, v]) => ` ${k}=${typeof v === "string" ? v : JSON.stringify(v)}`);
    out.write(`${time} ${record.level.padEnd(5)} [${record.subsystem}] ${printable(record.message + fields.join(""))}\n`);
  };
}

/** JSON lines in `<dir>/gateway-YYYY-MM-DD.jsonl`; the name is resolved per record, so midnight needs no timer. */
export function fileSink(dir: string, level: () => LogLevel): LogSink & { close(): void } {
  let day = "";
  let stream: WriteStream | undefined;
  const sink = (record: LogRecord) => {
    if (!isLogged(record, level())) return;
    const today = new Date(record.ts).toISOString().slice(0, 10);
    if (today !== day) {
      day = today;
      stream?.end();
      stream = undefined;
      try {
        mkdirSync(dir, { recursive: true, mode: 0o700 });
      } catch {
        return; // the console still has the line; tomorrow it is tried again
      }
      stream = createWriteStream(join(dir, `gateway-${today}.jsonl`), { flags: "a", mode: 0o600 });
      // A full disk must not stop the gateway; the console still has the line.
      stream.on("error", () => undefined);
    }
    stream?.write(`${JSON.stringify(record)}\n`);
  };
  return Object.assign(sink, { close: () => stream?.end() });
}
