import type { IndexProgress } from "../worker-protocol.ts";
import type { SyncScope } from "./document-sync.ts";

/** Progress as it is told to others. */
export interface ProgressReport {
  /** A new phase at once, else ten times a second at most. */
  tell: SyncScope["progress"];
  /** The last one once more: somebody may take silence for death. */
  again(): void;
}

const EVERY_MS = 100;

export function createProgressReport(send: (progress: IndexProgress) => void): ProgressReport {
  let last: IndexProgress = { phase: "scan", done: 0, total: 0 };
  let told = { phase: "", at: 0 };
  return {
    tell(phase, done, total) {
      const at = performance.now();
      last = { phase, done, total };
      if (phase === told.phase && at - told.at < EVERY_MS) return;
      told = { phase, at };
      send(last);
    },
    again: () => send(last),
  };
}
