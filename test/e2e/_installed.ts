import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/**
 * Packages that an `npm install` has put into one folder, lent to the next with its lockfile: that one's `npm install` compares them with its package.json
 * instead of choosing and unpacking them again.
 */
export interface InstalledPackages {
  /** Links the packages into a folder that has none yet but those that are links themselves. */
  lendTo(folder: string): Promise<void>;
  /** Takes up what the first `npm install` has made. */
  keepOf(folder: string): Promise<void>;
  remove(): Promise<void>;
}

export async function installedPackages(): Promise<InstalledPackages> {
  const own = await mkdtemp(join(tmpdir(), "svc-installed-"));
  const [kept, lock] = ["node_modules", "package-lock.json"].map((name) => join(own, name)) as [string, string];
  // Hard links: npm replaces files and never writes into them.
  const link = (...paths: string[]) => run("cp", ["-al", ...paths]);
  return {
    async lendTo(folder) {
      const target = join(folder, "node_modules");
      if (!existsSync(kept) || existsSync(join(folder, "package-lock.json"))) return;
      await mkdir(target, { recursive: true });
      // The host that `svc plugins create` has linked stays.
      const lent = (await readdir(kept)).filter((name) => !existsSync(join(target, name)));
      await link(...lent.map((name) => join(kept, name)), target);
      await copyFile(lock, join(folder, "package-lock.json"));
    },
    async keepOf(folder) {
      if (existsSync(kept)) return;
      await link(join(folder, "node_modules"), kept);
      await copyFile(join(folder, "package-lock.json"), lock);
      // What the tests of that folder have left there is its own.
      for (const cache of [".vite", ".vite-temp", ".vitest"]) await rm(join(kept, cache), { recursive: true, force: true });
    },
    remove: () => rm(own, { recursive: true, force: true }),
  };
}
