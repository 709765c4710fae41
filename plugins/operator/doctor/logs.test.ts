import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { logFiles, pruneLogs, surplusLogs } from "./logs.ts";

const file = (name: string, bytes: number, mtimeMs: number) => ({ path: `/s/logs/${name}`, bytes, mtimeMs });
const names = (files: Array<{ path: string }>) => files.map(({ path }) => path.slice("/s/logs/".length));

test("the oldest logs are surplus until the rest is within the limit", () => {
  const files = [
    file("gateway-2026-01-03.jsonl", 10, 3),
    file("gateway-2026-01-01.jsonl.1", 10, 1),
    file("gateway-2026-01-02.jsonl", 10, 2),
  ];
  expect(names(surplusLogs(files, 30))).toEqual([]);
  expect(names(surplusLogs(files, 29))).toEqual(["gateway-2026-01-01.jsonl.1"]);
  expect(names(surplusLogs(files, 19))).toEqual(["gateway-2026-01-01.jsonl.1", "gateway-2026-01-02.jsonl"]);
});

test("the newest stays, and so does what svc has not written", () => {
  const files = [file("gateway-2026-01-03.jsonl", 10, 3), file("notes.txt", 1_000, 1), file("service.err.log", 10, 2)];
  expect(names(surplusLogs(files, 1))).toEqual(["service.err.log"]);
});

test("files are found with their sizes, folders are none", async () => {
  const dir = mkdtempSync(join(tmpdir(), "svc-logs-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  expect(await logFiles(dir)).toEqual([]);
  mkdirSync(join(dir, "logs/folder"), { recursive: true });
  writeFileSync(join(dir, "logs/a.jsonl"), "12345");
  expect(await logFiles(dir)).toMatchObject([{ path: join(dir, "logs/a.jsonl"), bytes: 5 }]);
});

test("the oldest are deleted, and it is said how much that was", async () => {
  const dir = mkdtempSync(join(tmpdir(), "svc-logs-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  mkdirSync(join(dir, "logs"));
  for (const day of [1, 2]) {
    const path = join(dir, `logs/gateway-2026-01-0${day}.jsonl`);
    writeFileSync(path, "x".repeat(600_000));
    utimesSync(path, day, day);
  }
  expect(await pruneLogs(dir, 1_000_000)).toBe("deleted 1 files, 1 MB");
  expect(existsSync(join(dir, "logs/gateway-2026-01-01.jsonl"))).toBe(false);
  expect(await pruneLogs(dir, 1)).toBe("no file of svc is left to delete");
});
