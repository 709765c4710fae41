import { setTimeout as sleep } from "node:timers/promises";
import { type LogTail, messageOf } from "svc/sdk";
import { isLost, type LogSource } from "./logs-source.ts";

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

/** Destination of log lines. */
export interface LogOutput {
  /** Lines of one reading; `isNew`: the first of a file. */
  lines(tail: LogTail, isNew: boolean): void;
  /** Something that happened to the reader, not in the log. */
  notice(message: string): void;
}

export interface FollowOptions {
  /** Part of the log that was read and shown already. */
  first: LogTail;
  intervalMs: number;
  signal: AbortSignal;
  output: LogOutput;
}

/** Shows what is written from now on, until the signal; a gateway that is gone is waited for. */
export async function followLog(source: LogSource, { first, intervalMs, signal, output }: FollowOptions): Promise<void> {
  let last: Pick<LogTail, "file" | "cursor"> = first;
  let pauseMs = FIRST_PAUSE_MS;
  let waitMs = intervalMs;
  while (await isTimeOver(waitMs, signal)) {
    try {
      const tail = await source.read({ cursor: last.cursor });
      pauseMs = FIRST_PAUSE_MS;
      if (tail.file !== last.file) {
        // The cursor belongs to the file of yesterday: this one is read from its beginning.
        output.notice(`the log continues in ${tail.file}`);
        last = { file: tail.file, cursor: 0 };
        waitMs = 0;
        continue;
      }
      if (tail.reset) output.notice("the log file was put aside; these are the newest lines of the next one");
      output.lines(tail, tail.reset);
      last = tail;
      waitMs = tail.truncated && tail.lines.length > 0 ? 0 : intervalMs;
    } catch (error) {
      if (signal.aborted) return;
      if (!isLost(error)) throw error;
      output.notice(`${messageOf(error)}; trying again in ${pauseMs / 1_000} s`);
      waitMs = pauseMs;
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    }
  }
}

/** False when the signal came first. */
function isTimeOver(ms: number, signal: AbortSignal): Promise<boolean> {
  return sleep(ms, true, { signal }).catch(() => false);
}
