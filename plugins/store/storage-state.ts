import type { Logger } from "svc/sdk";
import type { StorageFault } from "./sqlite-fault.ts";
import { type StorageReason, storageAdvice } from "./storage-unavailable.ts";

export interface StorageStateOptions {
  logger: Logger;
  probeMs: number;
  /** Tries a small write; true when the disk took it. */
  probe(): Promise<boolean>;
  /** Writing has become impossible, or impossible for another reason. */
  onFault(reason: StorageReason, cause: unknown): void;
  onHealed(): void;
}

/**
 * Whether commits are taken, and why not. Disk faults are probed until the disk takes a write again; a dead thread heals when another is up;
 * damage stays until the next start, because writing into a damaged file makes it worse.
 */
export interface StorageState {
  readonly reason: StorageReason | undefined;
  fail(reason: StorageFault | "down", cause: unknown): void;
  /** Another writer thread is up. */
  restarted(): void;
  close(): void;
}

export function createStorageState(options: StorageStateOptions): StorageState {
  let reason: StorageReason | undefined;
  let timer: NodeJS.Timeout | undefined;

  function set(next: StorageReason, cause: unknown): void {
    if (reason !== next)
      options.logger.error(storageAdvice[next], { reason: next, cause: cause instanceof Error ? cause.message : undefined });
    reason = next;
    options.onFault(next, cause);
  }

  function heal(): void {
    reason = undefined;
    options.logger.info("the state database accepts writes again");
    options.onHealed();
  }

  function probeLater(): void {
    clearTimeout(timer);
    timer = setTimeout(probeNow, options.probeMs);
    timer.unref();
  }

  async function probeNow(): Promise<void> {
    const ok = await options.probe();
    if (!isProbed(reason)) return;
    if (ok) heal();
    else probeLater();
  }

  return {
    get reason() {
      return reason;
    },
    fail(next, cause) {
      if (reason === "closed" || reason === "corrupt") return;
      set(next, cause);
      if (isProbed(next)) probeLater();
    },
    restarted() {
      if (reason === "down") heal();
    },
    close() {
      clearTimeout(timer);
      reason = "closed";
    },
  };
}

function isProbed(reason: StorageReason | undefined): boolean {
  return reason === "full" || reason === "readonly" || reason === "io";
}
