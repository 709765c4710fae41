import type { StoreStatus, SvcError } from "svc/sdk";
import { storeErrors } from "./errors.ts";

/** Reasons of the embedded store; the others are those of a store outside the process. */
export type StorageReason = Exclude<NonNullable<StoreStatus["reason"]>, "unreachable" | "standby" | "fenced">;

/** Status of the embedded store. */
export type EmbeddedStatus = Omit<StoreStatus, "reason"> & { reason?: StorageReason };

/** Description and remedy for each storage fault, for the error and for health. */
export const storageAdvice: Record<StorageReason, string> = {
  full: "the disk is full, nothing can be stored; free some space; writing resumes by itself within 5 s",
  readonly: "the state database is read-only, nothing can be stored; make it writable; writing resumes by itself within 5 s",
  corrupt:
    "the state database is damaged, nothing can be stored; restart the gateway: it keeps the file aside, restores the newest snapshot and takes over what can be read",
  io: "the disk fails, nothing can be stored; check the disk and its mount; writing resumes by itself within 5 s",
  down: "the writer thread has ended, nothing can be stored; it is being restarted",
  closed: "the state database is closed; the gateway is stopping",
};

/** The one error of a commit or a read that the storage, not the caller, made impossible. */
export function storageUnavailable(reason: StorageReason, cause?: unknown): SvcError {
  return storeErrors.storageUnavailable({ reason, advice: storageAdvice[reason] }, { retryAfterMs: 5_000, cause });
}
