import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readRegularFile } from "./read-regular.ts";

let dir: string;
let path: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "svc-read-"));
  path = join(dir, "file");
});
afterEach(() => rm(dir, { recursive: true, force: true }));

test("a file is read to its limit, and refused one byte past it", async () => {
  await writeFile(path, "12345");
  expect(String(await readRegularFile(path, { maxBytes: 5 }))).toBe("12345");
  await expect(readRegularFile(path, { maxBytes: 4 })).rejects.toThrow("is larger than 4 bytes");
});

test("an empty file is empty", async () => {
  await writeFile(path, "");
  expect(await readRegularFile(path, { maxBytes: 5 })).toHaveLength(0);
});

test("what says it is empty and is not is read to its end, and bounded too", async () => {
  expect(String(await readRegularFile("/proc/self/status", { maxBytes: 100_000 }))).toMatch(/^Name:(.|\n)*\n$/);
  await expect(readRegularFile("/proc/self/status", { maxBytes: 10 })).rejects.toThrow("is larger than 10 bytes");
});

test("a folder, a FIFO and a device are no files, and none is waited for", async () => {
  await mkdir(path);
  await promisify(execFile)("mkfifo", [join(dir, "fifo")]);
  for (const other of [path, join(dir, "fifo"), "/dev/zero"]) {
    await expect(readRegularFile(other, { maxBytes: 5 })).rejects.toThrow("is not a regular file");
  }
});

test("a link is followed, or refused when that is asked for", async () => {
  await writeFile(join(dir, "target"), "x");
  await symlink(join(dir, "target"), path);
  expect(String(await readRegularFile(path, { maxBytes: 5 }))).toBe("x");
  await expect(readRegularFile(path, { maxBytes: 5, followLink: false })).rejects.toThrow("is a symbolic link");
});

test("the given check looks at the open file", async () => {
  await writeFile(path, "x");
  await expect(readRegularFile(path, { maxBytes: 5, check: (stat) => `is ${stat.size} long` })).rejects.toThrow("is 1 long");
});

test("a missing file is the system's error", async () => {
  await expect(readRegularFile(path, { maxBytes: 5 })).rejects.toMatchObject({ code: "ENOENT" });
});
