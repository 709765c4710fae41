import { readdir, realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Env } from "svc/sdk";
import { isAlive, type LockOwner, readRegularFile } from "svc/sdk/internal";

/** Another profile of this user on this machine. */
export interface SiblingProfile {
  /** `""` = the default profile. */
  profile: string;
  stateDir: string;
  /** As its running gateway says, else where a profile keeps it. */
  configPath: string;
  /** Its gateway, while one runs; the port once it listens. */
  gateway: { pid: number; port?: number; version?: string } | undefined;
}

const MAX_PROFILES = 64;
const MAX_LOCK_BYTES = 65_536;

/** Lists the other profiles beside a state directory and in the home, by their folders; read from their lock files alone, nothing is connected to. */
export async function siblingProfiles({ env, stateDir }: { env: Env; stateDir: string }): Promise<SiblingProfile[]> {
  const home = [env.SVC_HOME, env.HOME, env.USERPROFILE].find((path) => path?.trim()) ?? homedir();
  const names = await readdir(home, { withFileTypes: true }).catch(() => []);
  const profiles = names.flatMap((entry) => (entry.isDirectory() ? (profileOf(entry.name) ?? []) : []));
  const own = await realpath(stateDir).catch(() => stateDir);
  const found = await Promise.all(
    profiles
      .sort()
      .slice(0, MAX_PROFILES)
      .map((profile) => siblingAt(home, profile)),
  );
  return found.filter((sibling) => sibling.real !== own).map(({ real: _, ...sibling }) => sibling);
}

function profileOf(folder: string): string | undefined {
  if (folder === ".svc") return "";
  return /^\.svc-([a-z0-9][a-z0-9_-]{0,63})$/.exec(folder)?.[1];
}

async function siblingAt(home: string, profile: string): Promise<SiblingProfile & { real: string }> {
  const stateDir = join(home, profile === "" ? ".svc" : `.svc-${profile}`);
  const [real, lock] = await Promise.all([realpath(stateDir).catch(() => stateDir), readLiveLock(stateDir)]);
  const { pid, port, version, configPath } = lock ?? {};
  return {
    profile,
    stateDir,
    real,
    configPath: typeof configPath === "string" ? configPath : join(stateDir, "svc.json"),
    gateway:
      pid === undefined
        ? undefined
        : { pid, ...(Number.isInteger(port) ? { port: port as number } : {}), ...(typeof version === "string" ? { version } : {}) },
  };
}

type StateLock = LockOwner & { port?: unknown; version?: unknown; configPath?: unknown };

async function readLiveLock(stateDir: string): Promise<StateLock | undefined> {
  try {
    const text = await readRegularFile(join(stateDir, "gateway", "state.lock"), { maxBytes: MAX_LOCK_BYTES, followLink: false });
    const lock = JSON.parse(String(text)) as StateLock | null;
    return lock && Number.isInteger(lock.pid) && lock.pid > 0 && isAlive(lock) ? lock : undefined;
  } catch {
    return undefined; // none runs there, or it is not this user's to look into
  }
}
