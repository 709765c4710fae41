import { chmod, mkdir, mkdtemp, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makePrivate } from "./make-private.ts";

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "svc-private-"));
  await mkdir(join(root, "a/b"), { recursive: true });
  await writeFile(join(root, "a/b/run.sh"), "");
  for (const path of [".", "a", "a/b", "a/b/run.sh"]) await chmod(join(root, path), 0o777);
});
afterEach(() => rm(root, { recursive: true, force: true }));

test("whatever its modes were, a tree is its owner's alone afterwards", async () => {
  await makePrivate(root);
  const modes = await Promise.all([".", "a", "a/b", "a/b/run.sh"].map(async (path) => (await stat(join(root, path))).mode & 0o777));
  expect(modes).toEqual([0o700, 0o700, 0o700, 0o600]);
});

test("a link is not followed but refused", async () => {
  await writeFile(join(root, "outside"), "");
  await symlink(join(root, "outside"), join(root, "a/link"));
  await expect(makePrivate(join(root, "a"))).rejects.toMatchObject({ code: "unsafe-file" });
});
