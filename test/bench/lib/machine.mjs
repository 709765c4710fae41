import { execFileSync } from "node:child_process";
import { cpus, loadavg, release, totalmem } from "node:os";

/** Where and when figures were taken; ratios outlive it, milliseconds do not. */
export function describeMachine() {
  return {
    date: new Date().toISOString(),
    commit: commit(),
    node: process.version,
    system: `${process.platform} ${release().split("-")[0]}`,
    cpu: cpus()[0]?.model ?? "unknown",
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 1e9),
    load: loadavg()[0].toFixed(2),
  };
}

function commit() {
  try {
    return execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch {
    return "unknown";
  }
}
