import { execFileSync } from "node:child_process";
import { chmod, cp, mkdir, mkdtemp, rename, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { treeIntegrity } from "./tree-integrity.ts";

let base: string;
let root: string;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "svc-tree-"));
  root = join(base, "tree");
  await mkdir(join(root, "b/empty"), { recursive: true });
  await writeFile(join(root, "a.ts"), "one");
  await writeFile(join(root, "b/c.ts"), "two");
});
afterEach(() => rm(base, { recursive: true, force: true }));

test("a copy with other dates and modes has the same hash", async () => {
  await cp(root, join(base, "copy"), { recursive: true });
  await chmod(join(base, "copy/a.ts"), 0o600);
  await utimes(join(base, "copy/a.ts"), 1, 1);

  const hash = await treeIntegrity(root);
  expect(hash).toMatch(/^sha512-[A-Za-z0-9+/]{86}==$/);
  expect(await treeIntegrity(join(base, "copy"))).toBe(hash);
});

describe("another hash comes of", () => {
  test.each<[string, () => Promise<unknown> | unknown]>([
    ["one changed byte", () => writeFile(join(root, "a.ts"), "onf")],
    ["a new file", () => writeFile(join(root, "new.ts"), "")],
    ["a file that is gone", () => rm(join(root, "a.ts"))],
    ["another name", () => rename(join(root, "a.ts"), join(root, "z.ts"))],
    ["a new empty folder", () => mkdir(join(root, "more"))],
    ["an empty folder that is gone", () => rm(join(root, "b/empty"), { recursive: true })],
    ["a file that became a folder", async () => [await rm(join(root, "a.ts")), await mkdir(join(root, "a.ts"))]],
    ["a link, wherever it leads", () => symlink("/nowhere", join(root, "link"))],
    ["a FIFO, which is not opened", () => execFileSync("mkfifo", [join(root, "fifo")])],
  ])("%s", async (_, change) => {
    const before = await treeIntegrity(root);
    await change();
    expect(await treeIntegrity(root)).not.toBe(before);
  });
});

test("a large file counts to its last byte", async () => {
  const bytes = Buffer.alloc(2_000_000, 7);
  await writeFile(join(root, "large"), bytes);
  const before = await treeIntegrity(root);
  bytes[1_999_999] = 8;
  await writeFile(join(root, "large"), bytes);
  expect(await treeIntegrity(root)).not.toBe(before);
});

test("the hash of a known tree is a known one: what was recorded years ago still counts", async () => {
  expect(await treeIntegrity(root)).toBe("sha512-lBtyVvhHD+KXC+gfFUiEx8vMmfBQY/7NFQReGx7e54dIQvZUaJXsRqZVYpU/05ZT8+6qG7twGGQZMOByctLWCg==");
});

test("a name cannot pass for two entries", async () => {
  const [x, y] = [join(base, "x"), join(base, "y")];
  await mkdir(x);
  await mkdir(y);
  await writeFile(join(x, 'a" b'), "");
  await writeFile(join(y, "a"), "");
  expect(await treeIntegrity(x)).not.toBe(await treeIntegrity(y));
});

test("it stops when nobody waits any more", async () => {
  await expect(treeIntegrity(root, { signal: AbortSignal.abort() })).rejects.toThrow("aborted");
});
