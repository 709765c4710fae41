import { mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "svc/sdk/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createTestWorkspace, type TestWorkspace } from "../test-workspace.ts";
import { createDirectoryWatcher, type DirectoryWatcher } from "./watcher.ts";

let ws: TestWorkspace;
let watcher: DirectoryWatcher;
let quiet: number;
let failures: string[];
beforeEach(() => {
  ws = createTestWorkspace({ "memory/a.md": "x" });
  quiet = 0;
  failures = [];
  watcher = createDirectoryWatcher({ debounceMs: 0, onQuiet: () => quiet++, onFailure: (path, code) => failures.push(`${code} ${path}`) });
});
afterEach(() => {
  watcher.close();
  ws.remove();
});

const directory = (path: string) => ({ path, key: `${statSync(path).dev}:${statSync(path).ino}` });
const follow = (...paths: string[]) => watcher.follow(paths.map((path) => directory(path)));

test("a changed note is told once, after things are quiet", async () => {
  follow(ws.path("memory"));
  for (let i = 0; i < 5; i++) writeFileSync(ws.path("memory/a.md"), `x${i}`);
  await eventually(() => quiet === 1);
});

test("a new folder is told, a file that is no note is not", async () => {
  follow(ws.path("memory"));
  writeFileSync(ws.path("memory/state.json"), "{}");
  mkdirSync(ws.path("memory/.git"));
  mkdirSync(ws.path("memory/v1.2"));
  await eventually(() => quiet === 1);
});

test("a note that is deleted and a folder that goes are told", async () => {
  mkdirSync(ws.path("memory/sub"));
  follow(ws.path("memory"), ws.path("memory/sub"));
  rmSync(ws.path("memory/a.md"));
  await eventually(() => quiet === 1);
  rmSync(ws.path("memory/sub"), { recursive: true });
  await eventually(() => quiet === 2);
});

test("following says whether something was added, and follows a folder that took the place of another", async () => {
  expect(follow(ws.path("memory"))).toBe(true);
  expect(follow(ws.path("memory"))).toBe(false);
  expect(watcher.follow([{ path: ws.path("memory"), key: "another" }])).toBe(true);
  writeFileSync(ws.path("memory/a.md"), "y");
  await eventually(() => quiet === 1);
});

test("a folder that cannot be watched is reported once, and the others are watched", async () => {
  const impossible = join(ws.root, "x".repeat(300));
  watcher.follow([{ path: impossible, key: "1" }, directory(ws.path("memory"))]);
  watcher.follow([{ path: impossible, key: "1" }, directory(ws.path("memory"))]);
  expect(failures).toEqual([`ENAMETOOLONG ${impossible}`]);
  expect(watcher.isComplete).toBe(false);
  writeFileSync(ws.path("memory/a.md"), "y");
  await eventually(() => quiet === 1);
});
