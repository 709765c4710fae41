import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { setFailpoint } from "./failpoint.ts";
import { writeFileAtomic } from "./files.ts";

const points = ["before-write", "after-write", "after-fsync", "after-rename", "after-sync"];

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "svc-files-"));
});
afterEach(async () => {
  setFailpoint(undefined);
  await rm(dir, { recursive: true, force: true });
});

describe.each([
  ["an existing file", true],
  ["a new file", false],
])("a write of %s that fails", (_, exists) => {
  test.each(points)("at the point %s leaves the old bytes or the new ones, and nothing else", async (point) => {
    const path = join(dir, "state.json");
    if (exists) await writeFile(path, "old");
    setFailpoint((at) => {
      if (at === `file.${point}`) throw new Error(`broken at ${at}`);
    });

    await expect(writeFileAtomic(path, "new")).rejects.toThrow(`broken at file.${point}`);

    const replaced = point === "after-rename" || point === "after-sync";
    expect(await readdir(dir)).toEqual(exists || replaced ? ["state.json"] : []);
    if (exists || replaced) expect(await readFile(path, "utf8")).toBe(replaced ? "new" : "old");

    setFailpoint(undefined);
    await writeFileAtomic(path, "newer");
    expect(await readFile(path, "utf8")).toBe("newer");
  });
});

test("every named point is passed once and in order", async () => {
  const seen: string[] = [];
  setFailpoint((point) => void seen.push(point));
  await writeFileAtomic(join(dir, "a"), "x");
  expect(seen).toEqual(points.map((point) => `file.${point}`));
});

test("until the rename a reader sees the old file", async () => {
  const path = join(dir, "a");
  await writeFile(path, "old");
  const seen: string[] = [];
  setFailpoint(async (point) => void seen.push(`${point} ${await readFile(path, "utf8")}`));
  await writeFileAtomic(path, "new");
  expect(seen).toEqual([
    "file.before-write old",
    "file.after-write old",
    "file.after-fsync old",
    "file.after-rename new",
    "file.after-sync new",
  ]);
});

test("files are for their owner only unless told otherwise, and so are the folders made for them", async () => {
  await writeFileAtomic(join(dir, "a", "b", "c"), Buffer.from([1, 2, 3]));
  await writeFileAtomic(join(dir, "open"), "x", { mode: 0o644 });
  expect((await stat(join(dir, "a"))).mode & 0o777).toBe(0o700);
  expect((await stat(join(dir, "a", "b", "c"))).mode & 0o777).toBe(0o600);
  expect((await stat(join(dir, "open"))).mode & 0o777).toBe(0o644);
  expect(await readFile(join(dir, "a", "b", "c"))).toEqual(Buffer.from([1, 2, 3]));
});

test("many writers of one file leave one of their contents and nothing else", async () => {
  const path = join(dir, "a");
  const texts = Array.from({ length: 20 }, (_, i) => String(i).repeat(5_000));
  await Promise.all(texts.map((text) => writeFileAtomic(path, text)));
  expect(texts).toContain(await readFile(path, "utf8"));
  expect(await readdir(dir)).toEqual(["a"]);
});

test("a place that cannot be written is an error and leaves nothing", async () => {
  await writeFile(join(dir, "file"), "x");
  await expect(writeFileAtomic(join(dir, "file", "below"), "y")).rejects.toThrow();
  expect(await readdir(dir)).toEqual(["file"]);
});
