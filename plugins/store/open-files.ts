import { statSync } from "node:fs";
import type { FileIdentity, OpenFiles } from "./writer-messages.ts";

/** The files that stand behind the names of a database and its log now. */
export function identify(path: string): OpenFiles {
  return { database: identityOf(path) ?? { dev: 0, ino: 0 }, log: identityOf(`${path}-wal`) };
}

/** Undefined when there is no such file. */
export function identityOf(path: string): FileIdentity | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && { dev: found.dev, ino: found.ino };
}

export function isSameFile(a: FileIdentity | undefined, b: FileIdentity | undefined): boolean {
  return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino;
}
