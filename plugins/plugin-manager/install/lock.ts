import type { CliContext } from "svc/sdk";
import { installErrors } from "../errors.ts";

export type FileLock = CliContext["withFileLock"];

/**
 * Does something as the only command that changes installed plugins. A lock whose owner is dead is taken over.
 * @throws {SvcError} `install-locked` while another one is at work
 */
export function withInstallLock<T>(fileLock: FileLock, path: string, work: () => Promise<T>): Promise<T> {
  const busy = (owner: { pid: number } | undefined) => installErrors.installLocked({ pid: owner?.pid ?? "unknown" });
  return fileLock(path, work, { waitMs: 0, staleAfterMs: 0, busy });
}
