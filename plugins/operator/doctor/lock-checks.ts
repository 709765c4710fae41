import { createHash } from "node:crypto";
import { readFile, realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isRecord } from "svc/sdk";
import { isAlive, type LockOwner } from "svc/sdk/internal";

/** Locks that a dead process left: of writes of the config, of the gateway's state, and of its config. A start takes the last two over by itself. */
export async function staleLocks({ configPath, stateDir }: { configPath: string; stateDir: string }): Promise<string[]> {
  // Beside the file itself, by whatever name it is reached.
  const real = await realpath(configPath).catch(() => configPath);
  const hash = createHash("sha1").update(real).digest("hex").slice(0, 8);
  const paths = [`${real}.lock`, join(stateDir, "gateway", "state.lock"), join(dirname(real), `gateway.${hash}.lock`)];
  const stale = await Promise.all(paths.map(isStale));
  return paths.filter((_, i) => stale[i]);
}

/** A lock that cannot be read is not judged. */
async function isStale(path: string): Promise<boolean> {
  try {
    const value: unknown = JSON.parse(await readFile(path, "utf8"));
    return isRecord(value) && Number.isInteger(value.pid) && Number(value.pid) > 0 && !isAlive(ownerOf(value));
  } catch {
    return false;
  }
}

function ownerOf({ pid, startTime, createdAt }: Record<string, unknown>): LockOwner {
  return { pid: Number(pid), startTime: typeof startTime === "string" ? startTime : null, createdAt: Number(createdAt) };
}
