import type { CommitOutcome } from "./group-commit.ts";
import type { Migrated } from "./migrate.ts";
import type { WriteOp } from "./operations.ts";
import type { PlainRefusal } from "./refusal.ts";
import type { Restored } from "./restore.ts";
import type { StorageFault } from "./sqlite-fault.ts";

/** Requests of the main thread to the writer; one at a time, each answered by one reply. */
export type WriterRequest =
  | { type: "open" }
  | { type: "group"; commits: WriteOp[][] }
  | { type: "probe" }
  /** Brings what is in the log into the database. */
  | { type: "checkpoint" }
  | { type: "maintain"; now: number }
  /** The file is gone from its place, or another one is there: writes the open database to `moveTo`, and goes on with that. */
  | { type: "rescue"; moveTo: string; ownLog: FileIdentity | undefined }
  | { type: "close" };

/** Identity of the file behind a name. */
export interface FileIdentity {
  dev: number;
  ino: number;
}

/** The database and its log, as they were when they were opened. */
export interface OpenFiles {
  database: FileIdentity;
  log: FileIdentity | undefined;
}

export interface Opened {
  type: "opened";
  restored?: Restored;
  migrated?: Migrated;
  /** The last process did not close it. */
  unclean?: true;
  files: OpenFiles;
  /** Time of the newest session or run, epoch ms. */
  lastSeenAt?: number;
}

export type WriterReply =
  | Opened
  | { type: "group"; outcomes: CommitOutcome[] }
  | { type: "healthy" }
  | { type: "maintained"; more: boolean }
  | { type: "rescued"; path: string; files: OpenFiles }
  | { type: "closed" }
  /** Nothing of the request is stored. */
  | { type: "failed"; fault: StorageFault | "locked"; message: string }
  | { type: "refused"; refusal: PlainRefusal };

/** `workerData` of the writer. */
export interface WriterSetup {
  /** The file that is written to; another one after a rescue. */
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
