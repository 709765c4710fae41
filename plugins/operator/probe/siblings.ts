import { readdir, readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { type CliContext, isRecord } from "svc/sdk";
import { isAlive, type LockOwner } from "svc/sdk/internal";

/** Gateway of another profile of this user that runs now. */
export interface SiblingGateway {
  profile: string;
  pid: number;
  port: number;
}

/** Most profiles that are looked at. */
const MAX_PROFILES = 64;

/** Finds running gateways of other profiles by their locks; what cannot be read is none. */
export async function siblingGateways({ env, paths }: Pick<CliContext, "env" | "paths">): Promise<SiblingGateway[]> {
  const home = env.SVC_HOME || env.HOME || env.USERPROFILE || homedir();
  const names = (await readdir(home).catch(() => [])).filter((name) => name === ".svc" || name.startsWith(".svc-")).slice(0, MAX_PROFILES);
  const found = await Promise.all(
    names.map(async (name): Promise<SiblingGateway[]> => {
      const stateDir = join(home, name);
      if (stateDir === paths.stateDir) return [];
      const owner = parseOwner(await readFile(join(stateDir, "gateway", "state.lock"), "utf8").catch(() => ""));
      return owner && isAlive(owner) ? [{ profile: name.slice(".svc-".length) || "default", pid: owner.pid, port: owner.port }] : [];
    }),
  );
  return found.flat();
}

function parseOwner(text: string): (LockOwner & { port: number }) | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) && Number.isInteger(value.pid) && typeof value.port === "number"
      ? (value as unknown as LockOwner & { port: number })
      : undefined;
  } catch {
    return undefined;
  }
}
