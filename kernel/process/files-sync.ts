import { randomBytes } from "node:crypto";
import { closeSync, constants, fstatSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/**
 * Does what `writeFileAtomic` does, at once: for a thread of its own that must not wait for anything, not even for the pool of threads that
 * carries out file operations. Never for the main thread.
 */
export function writeFileAtomicSync(path: string, content: string): void {
  const dir = dirname(path);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const temp = join(dir, `.${basename(path)}.${randomBytes(6).toString("hex")}.tmp`);
  try {
    const file = openSync(temp, "wx", 0o600);
    try {
      writeFileSync(file, content);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temp, path);
  } catch (error) {
    rmSync(temp, { force: true });
    throw error;
  }
  if (process.platform === "win32") return;
  const folder = openSync(dir, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** Text of a regular file of bounded size, at once: for a thread of its own. @throws {Error} as `readRegularFile` does */
export function readRegularTextSync(path: string, maxBytes: number): string {
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) throw new Error("is not a regular file");
    if (stat.size > maxBytes) throw new Error(`is larger than ${maxBytes} bytes`);
    return readFileSync(file, "utf8");
  } finally {
    closeSync(file);
  }
}
