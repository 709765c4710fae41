import { closeSync, constants, openSync, writeSync } from "node:fs";
import { appendFile, mkdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { messageOf } from "../../sdk/errors.ts";
import { isLogged, type LogLevel } from "../../sdk/log-levels.ts";
import { withLimit } from "../../sdk/time.ts";
import { toLogLine } from "./log-line.ts";
import { localDay, logFilePath } from "./log-path.ts";
import { prune, rotate } from "./log-rotation.ts";
import type { LogSink } from "./logger.ts";

/** `logging.*`, as far as it is about the file. */
export interface LogFileSettings {
  file?: string | undefined;
  maxFileBytes: number;
  maxFiles: number;
  retentionDays: number;
}

export interface LogFileOptions {
  stateDir: string;
  /** Level and settings are asked for at each record: a new config counts from the next line on. */
  level(): LogLevel;
  settings(): LogFileSettings;
  /** Called with the reason why lines do not reach the file, once a minute at most; never through the log itself. */
  onFault(message: string): void;
  monotonic?: () => number;
}

export interface LogFile extends LogSink {
  /** Resolves when what was logged is in the file, or has failed; 2 s at most. Nothing is taken after it. */
  close(): Promise<void>;
  /** Writes what is still waiting, at once: for the end of a process that can wait for nothing. */
  writeRest(): void;
}

/** Maximum number of bytes waiting for a slow disk; more is dropped and reported. */
const MAX_QUEUED_BYTES = 8_000_000;
const MAX_BATCH_BYTES = 256_000;
const FAULT_INTERVAL_MS = 60_000;
const CLOSE_LIMIT_MS = 2_000;

interface Line {
  path: string;
  text: string;
  bytes: number;
  at: number;
}

/** JSON lines in a file a day, or in the configured one; written behind the caller's back, put aside by size, deleted by age. A fault stops nobody. */
export function createLogFile(options: LogFileOptions): LogFile {
  const { stateDir, level, settings, monotonic = () => performance.now() } = options;
  const queue: Line[] = [];
  const tell = limited(options.onFault, monotonic);
  const tidy = createTidy(stateDir);
  let waitingBytes = 0;
  let dropped = 0;
  let closed = false;
  let pumping: Promise<void> | undefined;

  const pump = async () => {
    await Promise.resolve(); // lines of one turn go together
    while (queue.length > 0) {
      const batch = nextBatch(queue);
      waitingBytes -= batch.reduce((sum, { bytes }) => sum + bytes, 0);
      const path = (batch[0] as Line).path;
      try {
        await write(batch, settings(), (error) => tell(`log file ${path}: ${messageOf(error)}`), tidy);
      } catch (error) {
        tell(`log file ${path} cannot be written: ${messageOf(error)}; until it can, only this console has the log`);
      }
      if (dropped > 0) tell(`log file ${path}: ${dropped} lines lost, it was too slow for them`);
      dropped = 0;
    }
    pumping = undefined; // in the same turn as the look into the queue: a line that comes now starts the next round
  };

  const sink: LogSink = (record) => {
    if (closed || !(record.isFlagged || isLogged(record.level, level()))) return;
    const text = toLogLine(record, process.pid);
    const bytes = Buffer.byteLength(text);
    if (waitingBytes + bytes > MAX_QUEUED_BYTES) {
      dropped += 1;
      return;
    }
    queue.push({ path: logFilePath(stateDir, settings().file, new Date(record.ts)), text, bytes, at: record.ts });
    waitingBytes += bytes;
    pumping ??= pump();
  };
  return Object.assign(sink, {
    async close() {
      closed = true;
      if (pumping) await withLimit(pumping, CLOSE_LIMIT_MS, () => undefined);
    },
    writeRest() {
      for (const { path, text } of queue.splice(0)) {
        try {
          appendLogLineSync(path, text);
        } catch {
          return; // the process ends; the console has the line
        }
      }
    },
  });
}

/** Puts one line into the log at once, past everything that waits: for a thread of its own, while the thread that owns the log is blocked. */
export function appendLogLineSync(path: string, line: string): void {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK = 0 } = constants;
  // A FIFO without a reader is an error, not a wait.
  const file = openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, 0o600);
  try {
    writeSync(file, line);
  } finally {
    closeSync(file);
  }
}

/** The next lines for one file. */
function nextBatch(queue: Line[]): Line[] {
  const { path } = queue[0] as Line;
  let bytes = 0;
  let n = 0;
  for (const line of queue) {
    if (line.path !== path || (n > 0 && bytes + line.bytes > MAX_BATCH_BYTES)) break;
    bytes += line.bytes;
    n += 1;
  }
  return queue.splice(0, n);
}

type Tidy = ReturnType<typeof createTidy>;

/** Opens the file anew for each batch: one that was renamed, deleted or put aside by somebody else is noticed at once. */
async function write(batch: Line[], settings: LogFileSettings, onFault: (error: unknown) => void, tidy: Tidy): Promise<void> {
  const { path, at } = batch[0] as Line;
  let size = await sizeOf(path);
  let text = "";
  let rotated = false;
  for (const line of batch) {
    if (size > 0 && size + line.bytes > settings.maxFileBytes) {
      await append(path, text);
      text = "";
      await rotate(path, settings.maxFiles).catch(onFault);
      rotated = true;
      size = 0;
    }
    text += line.text;
    size += line.bytes;
  }
  await append(path, text);
  await tidy({ path, at, settings, force: rotated }).catch(onFault);
}

async function append(path: string, text: string): Promise<void> {
  if (text === "") return;
  try {
    await appendFile(path, text, { mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await appendFile(path, text, { mode: 0o600 });
  }
}

/** A pipe or a device would be waited for, or renamed away. */
async function sizeOf(path: string): Promise<number> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (found && !found.isFile()) throw new Error("it is no regular file");
  return found?.size ?? 0;
}

/** Deletes old files with the first line of a day, after the settings changed, and after a rotation. */
function createTidy(stateDir: string) {
  let done = "";
  return async ({ path, at, settings, force }: { path: string; at: number; settings: LogFileSettings; force: boolean }) => {
    const { retentionDays, maxFiles } = settings;
    const now = new Date(at);
    const round = [path, localDay(now), retentionDays, maxFiles].join(" ");
    if (round === done && !force) return;
    done = round;
    await prune({ current: path, dailyDir: join(stateDir, "logs"), retentionDays, maxFiles, now });
  };
}

function limited(tell: (message: string) => void, monotonic: () => number): (message: string) => void {
  let last = Number.NEGATIVE_INFINITY;
  return (message) => {
    if (monotonic() - last < FAULT_INTERVAL_MS) return;
    last = monotonic();
    tell(message);
  };
}
