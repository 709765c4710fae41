import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomic } from "svc/sdk";
import { isAlive, type LockOwner, processStartTime } from "svc/sdk/internal";

const pathIn = (folder: string) => join(folder, "serve.json");

/** Writes down which process publishes the port, so that the next start finds it if this gateway is killed. */
export async function rememberServe(folder: string, pid: number): Promise<void> {
  const owner: LockOwner = { pid, startTime: processStartTime(pid), createdAt: Date.now() };
  await writeFileAtomic(pathIn(folder), JSON.stringify(owner));
}

export async function forgetServe(folder: string): Promise<void> {
  await rm(pathIn(folder), { force: true });
}

/**
 * Ends what a killed gateway left: it publishes a port that nobody serves, and stands in the way of the next. Only where the system tells a process from
 * another with the same number.
 * @returns the process that was ended
 */
export async function endLeftover(folder: string): Promise<number | undefined> {
  const owner = await readFile(pathIn(folder), "utf8").then(parsed, () => undefined);
  if (!owner) return undefined;
  await forgetServe(folder);
  if (owner.startTime === null || !isAlive(owner)) return undefined;
  try {
    process.kill(owner.pid, "SIGTERM");
    return owner.pid;
  } catch {
    return undefined; // it has ended meanwhile
  }
}

function parsed(text: string): LockOwner | undefined {
  try {
    const owner = JSON.parse(text) as LockOwner | null;
    return owner && Number.isInteger(owner.pid) && owner.pid > 1 && typeof owner.startTime === "string" ? owner : undefined;
  } catch {
    return undefined;
  }
}
