import { execFileSync } from "node:child_process";
import { mkdtempSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "vitest";
import { skippedFor } from "./needs.ts";

/** Mounts an empty disk of this size over a folder. @returns unmounts it; idempotent */
export function mountDisk(folder: string, bytes: number): () => void {
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${bytes}`, "tmpfs", folder], { stdio: "pipe" });
  let isMounted = true;
  return () => {
    // Lazily: a process that is ending may still have a file open.
    if (isMounted) execFileSync("umount", ["-l", folder], { stdio: "pipe" });
    isMounted = false;
  };
}

/** Gives a mounted disk another size; what is on it stays. */
export function resizeDisk(folder: string, bytes: number): void {
  execFileSync("mount", ["-o", `remount,size=${bytes}`, folder], { stdio: "pipe" });
}

/** `describe` and `test` for tests that fill a disk of their own: skipped by name where none may be mounted. */
export function needsDisk(): { describe: typeof describe; test: typeof test } {
  const folder = mkdtempSync(join(tmpdir(), "svc-disk-"));
  try {
    mountDisk(folder, 1024 * 1024)();
    return { describe, test };
  } catch {
    return skippedFor("a disk of their own (mount of a tmpfs, as root)");
  } finally {
    rmdirSync(folder);
  }
}
