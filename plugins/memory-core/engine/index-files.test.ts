import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, watch, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { eventually } from "svc/sdk/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createTestWorkspace, type TestWorkspace } from "../test-workspace.ts";
import { recoverFiles, swapDatabase } from "./index-files.ts";
import { rebuildLockPath, takeRebuildLock } from "./rebuild-lock.ts";

let ws: TestWorkspace;
let live: string;
beforeEach(() => {
  ws = createTestWorkspace();
  live = ws.settings.dbPath;
  mkdirSync(dirname(live));
});
afterEach(() => ws.remove());

const { signal } = new AbortController();
const put = (suffix: string, content = suffix) => writeFileSync(live + suffix, content);
const names = () => readdirSync(dirname(live)).map((name) => name.replace("main.sqlite", ""));

test("a swap leaves the new database and nothing else", () => {
  put("", "old");
  put("-wal", "old log");
  put(".tmp-1", "new");
  swapDatabase(live, `${live}.tmp-1`, { id: "1" });
  expect(names()).toEqual([""]);
  expect(readFileSync(live, "utf8")).toBe("new");
});

test("a swap that fails between its renames leaves the old database and its log", () => {
  put("", "old");
  put("-wal", "old log");
  expect(() => swapDatabase(live, `${live}.tmp-missing`, { id: "1" })).toThrow();
  expect(names()).toEqual(["", "-wal"]);
});

test("a crash between the two renames is repaired: the backup comes back, with its log", () => {
  put("", "old");
  put("-wal", "old log");
  put(".tmp-1", "new");
  const crash = () => {
    throw new Error("killed");
  };
  expect(() => swapDatabase(live, `${live}.tmp-1`, { id: "1", step: crash })).toThrow("killed");
  expect(existsSync(live)).toBe(false);
  recoverFiles(live);
  expect(names()).toEqual(["", "-wal"]);
  expect(readFileSync(live, "utf8")).toBe("old");
});

test("a crash before the log followed its database is repaired too", () => {
  put("-wal", "old log");
  put(".backup-1", "old");
  recoverFiles(live);
  expect(names()).toEqual(["", "-wal"]);
});

test("leftovers go when there is a live database", () => {
  for (const suffix of ["", ".tmp-1", ".tmp-1-journal", ".tmp-2-wal", ".backup-1", ".backup-1-shm"]) put(suffix);
  writeFileSync(rebuildLockPath(live), "{}");
  recoverFiles(live);
  expect(names()).toEqual([""]);
});

test("files of another index in the same folder stay", () => {
  const other = join(dirname(live), "other.sqlite.tmp-1");
  writeFileSync(other, "x");
  recoverFiles(live);
  expect(existsSync(other)).toBe(true);
});

test("a log without any database goes", () => {
  put("-wal");
  put("-shm");
  recoverFiles(live);
  expect(names()).toEqual([]);
});

test("while another live process rebuilds, its files are left alone", async () => {
  put("");
  put(".tmp-1");
  writeFileSync(rebuildLockPath(live), JSON.stringify({ pid: process.ppid, startTime: null }));
  recoverFiles(live);
  expect(names()).toContain(".tmp-1");
  await expect(takeRebuildLock(live, { signal, maxWaitMs: 0 })).rejects.toMatchObject({
    code: "memory-index-locked",
    fields: { path: live, pid: process.ppid },
  });
});

test.each([
  ["a dead process", { pid: 2 ** 22 + 7, startTime: null }],
  ["a recycled pid", { pid: process.ppid, startTime: "1" }],
  ["this process, from an earlier thread", { pid: process.pid, startTime: null }],
  ["nobody: torn", "{"],
])("a lock of %s holds nobody up", async (_, record) => {
  writeFileSync(rebuildLockPath(live), typeof record === "string" ? record : JSON.stringify(record));
  const release = await takeRebuildLock(live, { signal });
  release();
  expect(existsSync(rebuildLockPath(live))).toBe(false);
});

test("a lock has its content from the first moment, and leaves nothing else behind", async () => {
  put("");
  const seen: string[] = [];
  const watcher = watch(dirname(live), () => {
    if (existsSync(rebuildLockPath(live))) seen.push(readFileSync(rebuildLockPath(live), "utf8"));
  });
  const release = await takeRebuildLock(live, { signal });
  await eventually(() => seen.length > 0);
  watcher.close();
  expect(seen).toContain(readFileSync(rebuildLockPath(live), "utf8"));
  expect(seen).not.toContain("");
  expect(names()).toEqual(["", ".reindex-lock"]);
  release();
  expect(names()).toEqual([""]);
});

test("a folder in the place of the database is refused, not moved", () => {
  mkdirSync(live);
  writeFileSync(join(live, "mine.txt"), "x");
  put(".tmp-1", "new");
  expect(() => swapDatabase(live, `${live}.tmp-1`, { id: "1" })).toThrow(expect.objectContaining({ code: "memory-index-unusable" }));
  expect(existsSync(join(live, "mine.txt"))).toBe(true);
});

test("with two backups the newer one comes back", () => {
  put(".backup-1", "newer");
  put(".backup-2", "older");
  utimesSync(`${live}.backup-2`, new Date(0), new Date(0));
  recoverFiles(live);
  expect(readFileSync(live, "utf8")).toBe("newer");
});
