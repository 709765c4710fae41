import { mkdirSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "svc/sdk/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createTestWorkspace, type TestWorkspace } from "../test-workspace.ts";
import { createDirectoryWatcher, type DirectoryWatcher } from "./watcher.ts";

let ws: TestWorkspace;
let watcher: DirectoryWatcher;
/** Changes passed to each call of `onQuiet`. */
let told: Array<readonly string[] | undefined>;
let failures: string[];
beforeEach(() => {
  ws = createTestWorkspace({ "memory/a.md": "x" });
  told = [];
  failures = [];
  watcher = createDirectoryWatcher({
    debounceMs: 0,
    onQuiet: (changed) => told.push(changed),
    onFailure: (path, code) => failures.push(`${code} ${path}`),
  });
});
afterEach(() => {
  watcher.close();
  ws.remove();
});

const directory = (path: string) => ({ path, key: `${statSync(path).dev}:${statSync(path).ino}` });
const follow = (...paths: string[]) => watcher.follow(paths.map((path) => directory(path)));
const untilTold = async () => {
  await eventually(() => told.length === 1);
  const [changed] = told.splice(0);
  return changed && [...changed].sort();
};

test("a changed note is told once, by its path, after things are quiet", async () => {
  follow(ws.path("memory"));
  for (let i = 0; i < 5; i++) writeFileSync(ws.path("memory/a.md"), `x${i}`);
  expect(await untilTold()).toEqual([ws.path("memory/a.md")]);
});

test("both names of a renamed note are told, and the one of a deleted note", async () => {
  follow(ws.path("memory"));
  renameSync(ws.path("memory/a.md"), ws.path("memory/b.md"));
  expect(await untilTold()).toEqual([ws.path("memory/a.md"), ws.path("memory/b.md")]);
  rmSync(ws.path("memory/b.md"));
  expect(await untilTold()).toEqual([ws.path("memory/b.md")]);
});

test("a new folder is told, a file that is no note is not", async () => {
  follow(ws.path("memory"));
  writeFileSync(ws.path("memory/state.json"), "{}");
  mkdirSync(ws.path("memory/.git"));
  writeFileSync(ws.path("memory/a.md"), "y");
  expect(await untilTold()).toEqual([ws.path("memory/a.md")]);
  mkdirSync(ws.path("memory/v1.2"));
  expect(await untilTold()).toBeUndefined();
});

test.each<[string, (path: string) => void]>([
  ["goes", (path) => rmSync(path, { recursive: true })],
  ["is moved away", (path) => renameSync(path, ws.path("elsewhere"))],
  ["has the name of a note and goes", (path) => renameSync(path, ws.path("memory/x.md"))],
  [
    "becomes a symlink",
    (path) => {
      renameSync(path, ws.path("elsewhere"));
      symlinkSync(ws.path("elsewhere"), path);
    },
  ],
])("a folder that %s is more than some notes", async (_, change) => {
  mkdirSync(ws.path("memory/sub.md"));
  follow(ws.path("memory"), ws.path("memory/sub.md"));
  change(ws.path("memory/sub.md"));
  expect(await untilTold()).toBeUndefined();
});

test("more notes than can be told one by one are told as a whole", async () => {
  follow(ws.path("memory"));
  for (let i = 0; i < 300; i++) writeFileSync(ws.path(`memory/${i}.md`), "x");
  expect(await untilTold()).toBeUndefined();
});

test("events that come faster than the system keeps them are told as a whole", async () => {
  follow(ws.path("memory"));
  // Writes to two files in turn: the system joins equal events only while nothing comes between them.
  for (let i = 0; i < 5_000; i++) for (const name of ["a.md", "b.json"]) writeFileSync(ws.path(`memory/${name}`), "x");
  expect(await untilTold()).toBeUndefined();
});

test("following says whether something was added, and follows a folder that took the place of another", async () => {
  expect(follow(ws.path("memory"))).toBe(true);
  expect(follow(ws.path("memory"))).toBe(false);
  expect(watcher.follow([{ path: ws.path("memory"), key: "another" }])).toBe(true);
  writeFileSync(ws.path("memory/a.md"), "y");
  expect(await untilTold()).toEqual([ws.path("memory/a.md")]);
});

test("a folder that cannot be watched is reported once, and the others are watched", async () => {
  const impossible = join(ws.root, "x".repeat(300));
  watcher.follow([{ path: impossible, key: "1" }, directory(ws.path("memory"))]);
  watcher.follow([{ path: impossible, key: "1" }, directory(ws.path("memory"))]);
  expect(failures).toEqual([`ENAMETOOLONG ${impossible}`]);
  expect(watcher.isComplete).toBe(false);
  writeFileSync(ws.path("memory/a.md"), "y");
  expect(await untilTold()).toEqual([ws.path("memory/a.md")]);
});
