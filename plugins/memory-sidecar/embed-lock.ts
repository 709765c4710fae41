import { randomUUID } from "node:crypto";
import { link, mkdir, open, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { isRecord } from "svc/sdk";
import { isAlive, type LockOwner, processStartTime, readRegularFile } from "svc/sdk/internal";

/** Locks that this process holds: one of its own is no leftover. */
const held = new Set<string>();

/**
 * Takes a lock file for this process. One that a dead process left is taken over.
 * @returns how to release it; undefined while a live process holds it
 * @throws {Error} of the system when it cannot be written
 */
export async function takeLock(path: string): Promise<(() => Promise<void>) | undefined> {
  if (held.has(path)) return undefined;
  held.add(path);
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    for (let tries = 0; tries < 3; tries++) {
      if (await create(path)) return () => release(path);
      const owner = await ownerOf(path);
      if (owner && owner.pid !== process.pid && isAlive(owner)) break;
      await rm(path, { force: true });
    }
  } catch (error) {
    held.delete(path);
    throw error;
  }
  held.delete(path);
  return undefined;
}

async function release(path: string): Promise<void> {
  await rm(path, { force: true }).catch(() => undefined); // a record of a dead process holds nobody up
  held.delete(path);
}

/** Puts it in place with its content: an empty one, even for a moment, would be taken for nobody's. */
async function create(path: string): Promise<boolean> {
  const written = `${path}.${randomUUID()}`;
  const owner: LockOwner = { pid: process.pid, startTime: processStartTime(process.pid), createdAt: Date.now() };
  try {
    const file = await open(written, "wx", 0o600);
    await file.writeFile(JSON.stringify(owner)).finally(() => file.close());
    await link(written, path);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return false;
    if (code !== undefined && withoutLinks.has(code)) return createInPlace(path, owner);
    throw error;
  } finally {
    await rm(written, { force: true });
  }
}

const withoutLinks = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);

/** Creates the lock on a file system without links. */
async function createInPlace(path: string, owner: LockOwner): Promise<boolean> {
  const file = await open(path, "wx", 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
  await file?.writeFile(JSON.stringify(owner)).finally(() => file.close());
  return file !== undefined;
}

async function ownerOf(path: string): Promise<LockOwner | undefined> {
  try {
    const value: unknown = JSON.parse((await readRegularFile(path, { maxBytes: 4_096 })).toString("utf8"));
    if (!isRecord(value) || !Number.isInteger(value.pid)) return undefined;
    return { pid: value.pid as number, startTime: typeof value.startTime === "string" ? value.startTime : null, createdAt: 0 };
  } catch {
    return undefined; // missing or torn: nobody's
  }
}
