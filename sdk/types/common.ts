/** Anything that can be undone. `dispose` may be called twice; the second call does nothing. */
export interface Disposable {
  dispose(): void | Promise<void>;
}

/** A JSON object whose keys are not known here. */
export type JsonObject = { [key: string]: unknown };

/** Source of time; injectable so that tests never sleep. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Monotonic milliseconds, for durations. */
  monotonic(): number;
}

/** Timers that die with their owner. Delays are milliseconds. */
export interface Timers {
  setTimeout(fn: () => void, delayMs: number): Disposable;
  setInterval(fn: () => void, periodMs: number): Disposable;
  /**
   * Calls at the times of a cron expression: five fields, or six with seconds first, in local time.
   * @throws {TypeError} when the expression cannot be read
   */
  cron(expression: string, fn: () => void | Promise<void>): Disposable;
}

/** Fields beside the message of a log line; JSON, or an `Error`. */
export type LogFields = Record<string, unknown>;

/** Fields of a line for the search of a fault, or a function that makes them: it is called only when the line is written. */
export type LazyFields = LogFields | (() => LogFields);

/** One line per call; values that look like secrets are redacted before they are written. */
export interface Logger {
  /** Logs a single frame or step: written by `--verbose` and level `trace` only. */
  trace(message: string, fields?: LazyFields): void;
  debug(message: string, fields?: LazyFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A logger whose subsystem is `<this>/<name>`. */
  child(name: string): Logger;
}

/** Variables by name, as a process has them. */
export type Env = Readonly<Record<string, string | undefined>>;
