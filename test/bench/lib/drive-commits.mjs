import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "./gateway.mjs";
import { runToEnd } from "./process.mjs";

/** Runs a script that commits `total` messages with so many callers at once. @returns what it measured, see `commits.mjs` */
export async function driveCommits(script, callers, total) {
  const folder = mkdtempSync(join(tmpdir(), "svc-bench-queue-"));
  try {
    const { output } = await runToEnd([join(root, "test/bench", script), join(folder, "state.sqlite"), String(callers), String(total)]);
    return JSON.parse(output.trim().split("\n").at(-1));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
