import { stat } from "node:fs/promises";
import type { Logger } from "svc/sdk";
import { messageOf } from "svc/sdk";
import { isSameFile } from "./open-files.ts";
import type { FileIdentity, OpenFiles } from "./writer-messages.ts";

/** Three looks within the minute in which a loss has to be noticed. */
export const guardMs = 20_000;

/** Outcome of a rescue. `writtenBack`: it was gone, and is there again. `detached`: another file has its name, ours has a new one. */
export type FileEvent =
  | { kind: "writtenBack"; path: string; lost: "database" | "log" }
  | { kind: "detached"; path: string; foreign: string }
  | { kind: "failed"; path: string; reason: string; isReplaced: boolean };

export interface FileGuardOptions {
  logger: Logger;
  intervalMs: number;
  /** The file that is written to now. */
  path(): string;
  files(): OpenFiles;
  /** Epoch ms for the name of a detached file. */
  now(): number;
  /** Writes the open database to a file and goes on with that. */
  rescue(moveTo: string, ownLog: FileIdentity | undefined): Promise<void>;
  onEvent(event: FileEvent): void;
}

/**
 * Looks whether the open database still is the file of its name. SQLite goes on writing into a file that was deleted or replaced, and everything since then
 * would be gone with the process.
 */
export interface FileGuard {
  /** Looks now; the timer does so by itself. */
  look(): Promise<void>;
  /** The last look, for a stop. */
  close(): Promise<void>;
}

export function createFileGuard(options: FileGuardOptions): FileGuard {
  let looking: Promise<void> | undefined;
  const timer = setInterval(() => void look(), options.intervalMs);
  timer.unref();

  const act = async () => {
    const [path, files] = [options.path(), options.files()];
    const [database, log] = await Promise.all([identityAt(path), identityAt(`${path}-wal`)]);
    if (database === "unknown" || log === "unknown") return;
    const isReplaced = database !== undefined && !isSameFile(database, files.database);
    const isLogLost = files.log !== undefined && !isSameFile(log, files.log);
    if (!isReplaced && database !== undefined && !isLogLost) return;
    const moveTo = isReplaced ? `${baseOf(path)}.detached.${options.now()}` : path;
    try {
      await options.rescue(moveTo, files.log);
      if (isReplaced) options.onEvent({ kind: "detached", path: moveTo, foreign: path });
      else options.onEvent({ kind: "writtenBack", path, lost: database === undefined ? "database" : "log" });
    } catch (error) {
      options.onEvent({ kind: "failed", path, reason: messageOf(error), isReplaced });
    }
  };
  const look = () => {
    looking ??= act()
      .catch((error: unknown) => options.logger.warn("the file of the state database could not be checked", { error: messageOf(error) }))
      .finally(() => {
        looking = undefined;
      });
    return looking;
  };
  return {
    look,
    async close() {
      clearInterval(timer);
      await look();
    },
  };
}

/** A file that was detached once, and is replaced again, gets no second ending. */
function baseOf(path: string): string {
  return path.replace(/\.detached\.\d+$/, "");
}

/** `unknown`: the folder cannot be read now, which says nothing about the file. */
async function identityAt(path: string): Promise<FileIdentity | undefined | "unknown"> {
  try {
    const { dev, ino } = await stat(path);
    return { dev, ino };
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? undefined : "unknown";
  }
}
