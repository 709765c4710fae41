import { execFileSync } from "node:child_process";
import { link, mkdir, mkdtemp, realpath, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type OpenRegularOptions, openRegular } from "./open-regular.ts";

let base: string;
beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), "svc-open-")));
  await mkdir(join(base, "root"));
  await writeFile(join(base, "root/file"), "inside");
  await writeFile(join(base, "secret"), "outside");
});
afterEach(() => rm(base, { recursive: true, force: true }));

async function read(path: string, options: OpenRegularOptions = {}): Promise<string> {
  const handle = await openRegular(join(base, path), options);
  try {
    return await handle.readFile("utf8");
  } finally {
    await handle.close();
  }
}
const root = () => join(base, "root");

test("a regular file opens", async () => {
  expect(await read("root/file", { root: root(), maxBytes: 6 })).toBe("inside");
  expect(await read("root/file", { write: true })).toBe("inside");
});

describe("refused:", () => {
  test.each<[string, () => Promise<unknown> | unknown, string, () => OpenRegularOptions, string]>([
    ["a symbolic link", () => symlink(join(base, "secret"), join(base, "root/a")), "root/a", () => ({}), "is a symbolic link"],
    ["a FIFO, without waiting", () => execFileSync("mkfifo", [join(base, "root/a")]), "root/a", () => ({}), "not a regular file"],
    ["a FIFO for writing", () => execFileSync("mkfifo", [join(base, "root/a")]), "root/a", () => ({ write: true }), "not a regular file"],
    ["a folder", () => mkdir(join(base, "root/a")), "root/a", () => ({}), "not a regular file"],
    ["a file outside of the root", () => undefined, "secret", () => ({ root: root() }), "leads outside of its folder"],
    [
      "a way through a linked folder",
      () => symlink(base, join(base, "root/a")),
      "root/a/secret",
      () => ({ root: root() }),
      "leads outside",
    ],
    [
      "a second hard link, for writing",
      () => link(join(base, "root/file"), join(base, "other")),
      "root/file",
      () => ({ write: true }),
      "hard link",
    ],
    ["one byte too many", () => undefined, "root/file", () => ({ maxBytes: 5 }), "larger than 5 bytes"],
  ])("%s", async (_, make, path, options, reason) => {
    await make();
    await expect(read(path, options())).rejects.toMatchObject({ code: "unsafe-file", message: expect.stringContaining(reason) });
  });

  test("a device", async () => {
    await expect(openRegular("/dev/null")).rejects.toMatchObject({ code: "unsafe-file" });
  });
});

test("a file that is not there says so itself", async () => {
  await expect(read("root/nothing")).rejects.toMatchObject({ code: "ENOENT" });
});

test("somebody who swaps a folder for a link all the time never gets another file read", async () => {
  await mkdir(join(base, "root/real"));
  await writeFile(join(base, "root/real/secret"), "inside");
  await mkdir(join(base, "parked"));
  await symlink(base, join(base, "parked/link"));
  let stopped = false;
  const swapper = (async () => {
    while (!stopped) {
      await rename(join(base, "root/real"), join(base, "parked/real"));
      await rename(join(base, "parked/link"), join(base, "root/real"));
      await rename(join(base, "root/real"), join(base, "parked/link"));
      await rename(join(base, "parked/real"), join(base, "root/real"));
    }
  })();

  const seen = new Set<string>();
  for (let i = 0; i < 1_500 || (!seen.has("inside") && i < 100_000); i++) {
    seen.add(await read("root/real/secret", { root: root() }).catch((error: { code: string }) => error.code));
  }
  stopped = true;
  await swapper;

  expect(seen).toContain("inside");
  expect(seen).not.toContain("outside");
});
