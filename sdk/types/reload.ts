import type { SvcConfig } from "../config/root.ts";

/** Prepared change: exactly one of the two methods is called. */
export interface PreparedReload {
  /** Puts the prepared part in place; runs after the snapshot was swapped, in load order. */
  apply(): void | Promise<void>;
  /** Throws the prepared part away: somebody else refused the change. */
  discard(): void | Promise<void>;
}

/** A part of the gateway that must be rebuilt when config below its prefixes changes. */
export interface ReloadParticipant {
  /** Absolute config paths without wildcards: `"models"`, `"agents.list"`. */
  prefixes: readonly string[];
  /** Builds the new part beside the running one. A rejection discards the whole change, and the old snapshot stays. At most 30 s. */
  prepare(next: SvcConfig, prev: SvcConfig, meta: { signal: AbortSignal; paths: readonly string[] }): Promise<PreparedReload>;
}

/** Result of one reload. */
export interface ReloadOutcome {
  /** `unchanged`: same bytes; `invalid`: does not parse or validate; `rejected`: a part or a secret refused; `applied`: swapped; `restart`: a restart was asked for; `off`: kept for the next start. */
  status: "unchanged" | "applied" | "invalid" | "rejected" | "restart" | "off";
  action: "none" | "hot" | "restart";
  /** Effective paths that differ, sorted. */
  changedPaths: string[];
  /** Paths whose old value stays in force until a restart. */
  pendingRestart: string[];
  /** Why, when it was refused. */
  issues: Array<{ path: string; message: string }>;
}

/** Effect needed by a changed path, weakest first: nothing but the new snapshot, its subsystem, its plugin, its channel, the gateway. */
export type ReloadClass = "none" | "hot" | "plugin" | "channel" | "restart";

/** One changed path and what happens to it. */
export interface ReloadAction {
  path: string;
  reload: ReloadClass;
}
