import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { withFileLock } from "../../../test/tools/file-lock.ts";
import { withInstallLock } from "./lock.ts";
import { putInPlace, withStaging } from "./place.ts";

let base: string;
let plugins: string;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "svc-place-"));
  plugins = join(base, "plugins");
  await mkdir(join(plugins, "demo"), { recursive: true });
  await writeFile(join(plugins, "demo/version"), "old");
});
afterEach(() => rm(base, { recursive: true, force: true }));

async function finished(): Promise<string> {
  const folder = join(plugins, ".staging-x");
  await mkdir(folder);
  await writeFile(join(folder, "version"), "new");
  return folder;
}
const version = () => readFile(join(plugins, "demo/version"), "utf8");

describe("a finished folder", () => {
  test("takes the place of the old one, which goes at the end", async () => {
    const placed = await putInPlace(await finished(), join(plugins, "demo"));
    expect(await version()).toBe("new");
    await placed.finish();
    expect(await readdir(plugins)).toEqual(["demo"]);
  });

  test("can be taken back", async () => {
    const placed = await putInPlace(await finished(), join(plugins, "demo"));
    await placed.undo();
    expect(await version()).toBe("old");
    expect(await readdir(plugins)).toEqual(["demo"]);
  });

  test("that is gone leaves the old one where it was", async () => {
    await expect(putInPlace(join(plugins, "nowhere"), join(plugins, "demo"))).rejects.toThrow("ENOENT");
    expect(await version()).toBe("old");
    expect(await readdir(plugins)).toEqual(["demo"]);
  });

  test("may be the first of its name", async () => {
    const placed = await putInPlace(await finished(), join(plugins, "fresh"));
    await placed.finish();
    expect(await readdir(plugins)).toEqual(["demo", "fresh"]);
  });
});

describe("a staging folder", () => {
  test("is gone after the work, also after one that failed", async () => {
    await withStaging(plugins, (staging) => writeFile(join(staging, "a"), ""));
    await expect(withStaging(plugins, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(await readdir(plugins)).toEqual(["demo"]);
  });

  test("of a command that was killed more than an hour ago goes with the next one, a younger one stays", async () => {
    for (const name of [".staging-old", ".replaced-old", ".staging-young"]) await mkdir(join(plugins, name));
    const past = Date.now() / 1000 - 4_000;
    for (const name of [".staging-old", ".replaced-old"]) await utimes(join(plugins, name), past, past);
    await withStaging(plugins, async () => undefined);
    expect((await readdir(plugins)).sort()).toEqual([".staging-young", "demo"]);
  });
});

describe("of two commands", () => {
  const lock = () => join(plugins, ".install.lock");

  test("the second one is told who is at work, and may begin when that one has ended", async () => {
    await withInstallLock(withFileLock, lock(), async () => {
      await expect(withInstallLock(withFileLock, lock(), async () => undefined)).rejects.toMatchObject({
        code: "install-locked",
        fields: { pid: process.pid },
      });
    });
    expect(await withInstallLock(withFileLock, lock(), async () => "done")).toBe("done");
  });

  test("a dead one blocks nobody", async () => {
    await writeFile(lock(), "999999999");
    expect(await withInstallLock(withFileLock, lock(), async () => "done")).toBe("done");
    expect(await readdir(plugins)).toEqual(["demo"]);
  });

  test("exactly one begins, also when several find the lock of a dead one", async () => {
    let [inside, most] = [0, 0];
    const work = async () => {
      most = Math.max(most, ++inside);
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
      inside -= 1;
    };
    for (let round = 0; round < 60; round++) {
      await writeFile(lock(), "999999999");
      const tries = await Promise.allSettled([1, 2, 3].map(() => withInstallLock(withFileLock, lock(), work)));
      const codes = tries.flatMap((t) => (t.status === "rejected" ? [(t.reason as { code?: string }).code] : []));
      expect([...new Set(codes)]).toEqual(codes.length > 0 ? ["install-locked"] : []);
      expect(codes.length).toBeLessThan(3);
    }
    expect(most).toBe(1);
    expect(await readdir(plugins)).toEqual(["demo"]);
  });
});
