import { type DocumentVersion, readActivity } from "./thread-activity.ts";

/**
 * Limits for a thread without a heartbeat, in turns of the main thread rather than in time, so that a machine that slept or is overloaded makes no thread
 * look dead.
 */
export interface StallLimits {
  everyMs: number;
  /** Turns until the thread counts as not answering. */
  silentTurns: number;
  /** Turns until it is ended while it works on a document, of which each step takes some milliseconds. */
  documentTurns: number;
  /** Turns until it is ended otherwise: a database may have a lot to write. */
  otherTurns: number;
}

export const defaultStallLimits: StallLimits = { everyMs: 1_000, silentTurns: 10, documentTurns: 30, otherTurns: 180 };

export interface ThreadWatchEvents {
  /** The thread does not answer for this reason; undefined: it answers again. */
  onSilence(reason: string | undefined): void;
  /** The thread is to be ended; called once, last. `document` is the one that it did not finish. */
  onStall(reason: string, document: DocumentVersion | undefined): void;
}

/** Watches the heartbeats of a thread. */
export function watchThread(
  memory: SharedArrayBuffer,
  events: ThreadWatchEvents,
  limits: StallLimits = defaultStallLimits,
): { dispose(): void } {
  let last = -1;
  let turns = 0;
  const timer = setInterval(() => {
    const { beats, document } = readActivity(memory);
    const wasSilent = turns >= limits.silentTurns;
    turns = beats === last ? turns + 1 : 0;
    last = beats;
    if (turns === 0 && wasSilent) events.onSilence(undefined);
    if (turns < limits.silentTurns) return;
    const during = document && `indexing ${document.path}`;
    const seconds = Math.round((turns * limits.everyMs) / 1_000);
    // Before the first heartbeat its code is still being loaded.
    if (turns >= (document && beats > 0 ? limits.documentTurns : limits.otherTurns)) {
      clearInterval(timer);
      events.onStall(during ? `${during} did not finish within ${seconds} s` : `it did not answer for ${seconds} s`, document);
    } else if (turns === limits.silentTurns) {
      events.onSilence(during ? `${during} takes longer than ${seconds} s` : `it has not answered for ${seconds} s`);
    }
  }, limits.everyMs);
  timer.unref();
  return { dispose: () => clearInterval(timer) };
}
