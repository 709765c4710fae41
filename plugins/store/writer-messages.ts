import type { CommitOutcome } from "./group-commit.ts";
import type { WriteOp } from "./operations.ts";
import type { PlainRefusal } from "./refusal.ts";
import type { StorageFault } from "./sqlite-fault.ts";

/** What the main thread asks of the writer; one at a time, each answered by one reply. */
export type WriterRequest =
  | { type: "open" }
  | { type: "group"; commits: WriteOp[][] }
  | { type: "probe" }
  | { type: "maintain"; now: number }
  | { type: "close" };

export interface Opened {
  type: "opened";
  damaged?: string;
  migrated?: { from: number; to: number };
}

export type WriterReply =
  | Opened
  | { type: "group"; outcomes: CommitOutcome[] }
  | { type: "healthy" }
  | { type: "maintained"; more: boolean }
  | { type: "closed" }
  /** Nothing of the request is stored. */
  | { type: "failed"; fault: StorageFault | "locked"; message: string }
  | { type: "refused"; refusal: PlainRefusal };

/** `workerData` of the writer. */
export interface WriterSetup {
  path: string;
  now: number;
  again: boolean;
  failpoint?: string;
  faults?: StorageFaults;
}

/**
 * Tests only: what is wrong with the disk, read before each request. Shared between the threads, or a file for tests that need a process of their own: its text is
 * the name of one fault; no file, no fault.
 */
export type StorageFaults = Int32Array | { file: string };
/** Names of faults and their places in the shared array. `full`: no page may be added. `readonly`: writes are refused. `io`: every write fails. */
export const faultAt = { full: 0, readonly: 1, io: 2 } as const;
