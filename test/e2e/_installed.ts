import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Packages that an `npm install` has put into one folder, lent to the next: that one's `npm install` compares them with its package.json instead of unpacking them again. */
export interface InstalledPackages {
  /** Links the packages into a folder that has none yet. */
  lendTo(folder: string): Promise<void>;
  /** Takes up what the first `npm install` has made. */
  keepOf(folder: string): Promise<void>;
  remove(): Promise<void>;
}

export async function installedPackages(): Promise<InstalledPackages> {
  const own = await mkdtemp(join(tmpdir(), "svc-installed-"));
  const kept = join(own, "node_modules");
  // Hard links: npm replaces files and never writes into them.
  const link = (from: string, to: string) => run("cp", ["-al", from, to]);
  return {
    async lendTo(folder) {
      const target = join(folder, "node_modules");
      if (existsSync(kept) && !existsSync(target)) await link(kept, target);
    },
    async keepOf(folder) {
      if (existsSync(kept)) return;
      await link(join(folder, "node_modules"), kept);
      // What the tests of that folder have left there is its own.
      for (const cache of [".vite", ".vite-temp", ".vitest"]) await rm(join(kept, cache), { recursive: true, force: true });
    },
    remove: () => rm(own, { recursive: true, force: true }),
  };
}
