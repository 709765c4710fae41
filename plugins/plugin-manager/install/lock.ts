import { mkdir, open, readFile, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { SvcError } from "svc/sdk";
import "../errors.ts";

/**
 * Does something as the only command that changes installed plugins. A lock whose owner is dead is taken over.
 * @throws {SvcError} `install-locked` while another one is at work
 */
export async function withInstallLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await take(path);
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

async function take(path: string): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      const file = await open(path, "wx", 0o600);
      await file.writeFile(String(process.pid));
      await file.close();
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    const pid = Number(await readFile(path, "utf8").catch(() => ""));
    if (attempt > 0 || (Number.isInteger(pid) && pid > 0 && isAlive(pid))) throw new SvcError("install-locked", { pid });
    await rm(path, { force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
