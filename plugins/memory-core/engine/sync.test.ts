import { renameSync, rmSync, statSync, utimesSync } from "node:fs";
import Sqlite from "better-sqlite3";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createTestWorkspace, type TestWorkspace } from "../test-workspace.ts";
import type { Database } from "./database.ts";
import { createPacer } from "./pacer.ts";
import { schemaSql } from "./schema.ts";
import { syncFiles } from "./sync.ts";

let ws: TestWorkspace;
let db: Database;
let now: number;
beforeEach(() => {
  ws = createTestWorkspace();
  db = new Sqlite(":memory:");
  db.exec(schemaSql("unicode61"));
  now = Date.now() + 60_000;
});
afterEach(() => {
  db.close();
  ws.remove();
});

const sync = (tokens = 400) =>
  syncFiles(db, {
    workspace: ws.root,
    extraPaths: [],
    chunking: { tokens, overlap: 0 },
    pacer: createPacer(new AbortController().signal),
    now: () => now,
    progress: () => undefined,
  });
const count = (table: string) => Number(db.prepare(`SELECT count(*) FROM ${table}`).pluck().get());
const matches = (word: string) => db.prepare("SELECT rowid FROM chunks_fts WHERE chunks_fts MATCH ?").pluck().all(`"${word}"`);

test("an empty file has a row and no chunk", async () => {
  ws.write("memory/empty.md", "");
  await sync();
  expect([count("files"), count("chunks")]).toEqual([1, 0]);
});

test("a second sync with nothing new writes nothing", async () => {
  ws.write("memory/a.md", "alpha");
  expect((await sync()).changed).toBe(1);
  expect(await sync()).toMatchObject({ changed: 0, removed: 0 });
});

test("a changed file replaces its chunks everywhere", async () => {
  ws.write("memory/a.md", "alpha one\n\nalpha two");
  await sync();
  ws.write("memory/a.md", "omega");
  await sync();
  expect([matches("alpha"), matches("omega").length, count("chunks")]).toEqual([[], 1, 1]);
});

test("a file that is gone leaves no row behind", async () => {
  ws.write("memory/a.md", "alpha");
  ws.write("memory/b.md", "beta");
  await sync();
  rmSync(ws.path("memory/a.md"));
  expect((await sync()).removed).toBe(1);
  expect([count("files"), count("chunks"), matches("alpha"), matches("beta").length]).toEqual([1, 1, [], 1]);
});

test("a renamed file is found under its new name only", async () => {
  ws.write("memory/a.md", "alpha");
  await sync();
  renameSync(ws.path("memory/a.md"), ws.path("memory/b.md"));
  await sync();
  expect(db.prepare("SELECT path FROM chunks").pluck().all()).toEqual(["memory/b.md"]);
});

test("the hash decides: same time and size do not hide a change made right after the last read", async () => {
  now = Date.now();
  const path = ws.write("memory/a.md", "alpha");
  await sync();
  const { atime, mtime } = statSync(path);
  ws.write("memory/a.md", "omega");
  utimesSync(path, atime, mtime);
  expect((await sync()).changed).toBe(1);
  expect(matches("omega")).toHaveLength(1);
});

test("a touched file with the same content is not written again", async () => {
  const path = ws.write("memory/a.md", "alpha");
  await sync();
  const id = db.prepare("SELECT rowid FROM chunks").pluck().get();
  utimesSync(path, new Date(), new Date(Date.now() - 5_000));
  expect((await sync()).changed).toBe(0);
  expect(db.prepare("SELECT rowid FROM chunks").pluck().get()).toBe(id);
});

test("equal pieces of one line are kept apart", async () => {
  ws.write("memory/a.md", "abcd ".repeat(400));
  await sync(10);
  expect(count("chunks")).toBeGreaterThan(10);
  expect(Number(db.prepare("SELECT count(DISTINCT id) FROM chunks").pluck().get())).toBe(count("chunks"));
});

test("a file over 16 MiB is skipped and named, one of exactly 16 MiB is taken", async () => {
  ws.write("memory/big.md", Buffer.alloc(16 * 1024 * 1024 + 1, "x\n"));
  ws.write("memory/full.md", Buffer.alloc(16 * 1024 * 1024, 10));
  ws.write("memory/ok.md", "fine");
  const { skipped } = await sync();
  expect(skipped).toEqual([{ path: "memory/big.md", code: "EFBIG" }]);
  expect(db.prepare("SELECT path FROM files ORDER BY path").pluck().all()).toEqual(["memory/full.md", "memory/ok.md"]);
});

test("files that vanish while they are read are skipped, the rest is indexed", async () => {
  for (let i = 0; i < 40; i++) ws.write(`memory/${i}.md`, `note${i}`);
  let reads = 0;
  await syncFiles(db, {
    workspace: ws.root,
    extraPaths: [],
    chunking: { tokens: 400, overlap: 0 },
    pacer: createPacer(new AbortController().signal),
    now: () => now,
    progress: (phase) => {
      if (phase === "write" && reads++ === 0) for (let i = 20; i < 40; i++) rmSync(ws.path(`memory/${i}.md`), { force: true });
    },
  });
  expect(matches("note7")).toHaveLength(1);
  expect(matches("note27")).toEqual([]);
});

test("broken text is indexed as far as it can be read", async () => {
  ws.write("memory/a.md", Buffer.from([0x61, 0x6c, 0x70, 0x68, 0x61, 0x20, 0xff, 0xfe, 0x00, 0x20, 0x62]));
  await sync();
  expect(matches("alpha")).toHaveLength(1);
});
