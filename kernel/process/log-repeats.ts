import type { LogRecord, LogSink } from "./logger.ts";

const WINDOW_MS = 10_000;
/** So many of the same pass in one window. */
const MAX_SAME = 5;
/** Different messages that are remembered; beyond it the one remembered longest is forgotten. */
const MAX_KNOWN = 1_000;

interface Known {
  since: number;
  count: number;
  /** Last record of those held back. */
  last?: LogRecord;
}

export interface RepeatSink extends LogSink {
  /** Passes on what is held back; nothing is held back after it. */
  close(): void;
}

/** Passes five identical messages above `debug` in 10 s; the rest becomes one record with `repeated: n` when the 10 s are over. */
export function collapseRepeats(next: LogSink, monotonic: () => number = () => performance.now()): RepeatSink {
  const known = new Map<string, Known>();
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const settle = (key: string, { last, count }: Known) => {
    known.delete(key);
    if (last) next({ ...last, fields: { ...last.fields, repeated: count - MAX_SAME } });
  };
  const sweep = () => {
    timer = undefined;
    for (const [key, entry] of known) if (closed || monotonic() - entry.since >= WINDOW_MS) settle(key, entry);
    if ([...known.values()].some(({ last }) => last)) wait();
  };
  const wait = () => {
    timer ??= setTimeout(sweep, WINDOW_MS).unref();
  };

  const sink: LogSink = (record) => {
    // An operator who asked for this much wants each of them.
    if (record.level === "trace" || record.level === "debug") return next(record);
    const key = `${record.level} ${record.subsystem} ${record.message}`;
    const before = known.get(key);
    if (before && monotonic() - before.since >= WINDOW_MS) settle(key, before);
    const entry = known.get(key) ?? { since: monotonic(), count: 0 };
    entry.count += 1;
    known.set(key, entry);
    if (entry.count <= MAX_SAME || closed) next(record);
    else {
      entry.last = record;
      wait();
    }
    const oldest = known.size > MAX_KNOWN ? known.entries().next().value : undefined;
    if (oldest) settle(...oldest);
  };
  return Object.assign(sink, {
    close() {
      closed = true;
      clearTimeout(timer);
      sweep();
    },
  });
}
