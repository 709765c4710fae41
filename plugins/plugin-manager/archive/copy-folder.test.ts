import { execFileSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { copyFolder } from "./copy-folder.ts";

let base: string;
let from: string;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "svc-copy-"));
  from = join(base, "from");
  await mkdir(join(from, "src"), { recursive: true });
  await writeFile(join(from, "svc.plugin.json"), "{}");
  await writeFile(join(from, "src/index.ts"), "export default 1;");
});
afterEach(() => rm(base, { recursive: true, force: true }));

const copy = () => copyFolder(from, join(base, "to"));

test("files come along, private; what tools made on the author's machine does not", async () => {
  for (const name of ["node_modules", ".git", "src/node_modules"]) {
    await mkdir(join(from, name));
    await writeFile(join(from, name, "x"), "");
  }
  await writeFile(join(from, ".npmrc"), "registry=nowhere");
  await chmod(join(from, "src/index.ts"), 0o777);
  await copy();

  expect((await readdir(join(base, "to"), { recursive: true })).sort()).toEqual(["src", "src/index.ts", "svc.plugin.json"]);
  expect((await stat(join(base, "to/src/index.ts"))).mode & 0o777).toBe(0o600);
  expect((await stat(join(base, "to/src"))).mode & 0o777).toBe(0o700);
});

test("a link refuses the whole folder", async () => {
  await symlink("/etc/passwd", join(from, "src/link"));
  await expect(copy()).rejects.toMatchObject({ code: "archive-refused", message: expect.stringContaining("src/link is a link") });
});

test("a FIFO does too, without waiting", async () => {
  execFileSync("mkfifo", [join(from, "src/fifo")]);
  await expect(copy()).rejects.toMatchObject({ code: "archive-refused" });
});

test("a command that was stopped ends as stopped", async () => {
  await expect(copyFolder(from, join(base, "to"), { signal: AbortSignal.abort() })).rejects.toMatchObject({ name: "AbortError" });
});
