import { execFileSync } from "node:child_process";
import { appendFileSync, mkdirSync, renameSync, rmSync, statSync, symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createTestIndex, type TestIndex } from "../test-index.ts";
import { createTestWorkspace, type TestWorkspace } from "../test-workspace.ts";
import { createDocumentGuard, type DocumentGuard } from "./document-guard.ts";
import { type SyncScope, syncDocuments } from "./document-sync.ts";
import type { DocumentSource, IndexDocument } from "./documents.ts";
import { createFileSource, stampOf } from "./file-documents.ts";
import { createPacer } from "./pacer.ts";

let ws: TestWorkspace;
let index: TestIndex;
let now: number;
beforeEach(() => {
  ws = createTestWorkspace();
  index = createTestIndex();
  now = Date.now() + 60_000;
});
afterEach(() => {
  index.close();
  ws.remove();
});

interface Wish {
  tokens?: number;
  progress?: SyncScope["progress"];
  sources?: DocumentSource[];
  guard?: DocumentGuard;
}

const sync = ({
  tokens = 400,
  progress = () => undefined,
  sources = [createFileSource(ws.settings)],
  guard = createDocumentGuard(),
}: Wish = {}) =>
  syncDocuments(index, {
    sources,
    chunking: { tokens, overlap: 0 },
    model: "fts-only",
    vectors: { by: "none", maxTextBytes: undefined, known: undefined },
    guard,
    pacer: createPacer(new AbortController().signal),
    now: () => now,
    progress,
  });
const count = (table: string) => Number(index.db.prepare(`SELECT count(*) FROM ${table}`).pluck().get());
const matches = (word: string) => index.db.prepare("SELECT rowid FROM chunks_fts WHERE chunks_fts MATCH ?").pluck().all(`"${word}"`);

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
  expect(index.db.prepare("SELECT path FROM chunks").pluck().all()).toEqual(["memory/b.md"]);
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
  const id = index.db.prepare("SELECT rowid FROM chunks").pluck().get();
  utimesSync(path, new Date(), new Date(Date.now() - 5_000));
  expect((await sync()).changed).toBe(0);
  expect(index.db.prepare("SELECT rowid FROM chunks").pluck().get()).toBe(id);
});

test("equal pieces of one line are kept apart", async () => {
  ws.write("memory/a.md", "abcd ".repeat(400));
  await sync({ tokens: 10 });
  expect(count("chunks")).toBeGreaterThan(10);
  expect(Number(index.db.prepare("SELECT count(DISTINCT id) FROM chunks").pluck().get())).toBe(count("chunks"));
});

test("a file over 16 MiB is skipped and named, one of exactly 16 MiB is taken", async () => {
  ws.write("memory/big.md", Buffer.alloc(16 * 1024 * 1024 + 1, "x\n"));
  ws.write("memory/full.md", Buffer.alloc(16 * 1024 * 1024, `${" ".repeat(1_023)}\n`));
  ws.write("memory/ok.md", "fine");
  const { skipped } = await sync();
  expect(skipped).toEqual([{ path: "memory/big.md", code: "EFBIG" }]);
  expect(index.db.prepare("SELECT path FROM files ORDER BY path").pluck().all()).toEqual(["memory/full.md", "memory/ok.md"]);
});

test("files that vanish while they are read are skipped, the rest is indexed", async () => {
  for (let i = 0; i < 40; i++) ws.write(`memory/${i}.md`, `note${i}`);
  let reads = 0;
  await sync({
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

test.each<[string, (path: string) => void, string[]]>([
  ["vanishes", (path) => rmSync(path), []],
  ["grows", (path) => appendFileSync(path, " omega"), ["memory/b.md"]],
  [
    "is rotated",
    (path) => {
      renameSync(path, `${path}.1`);
      ws.write("memory/b.md", "omega");
    },
    ["memory/b.md"],
  ],
  [
    "becomes a symlink",
    (path) => {
      rmSync(path);
      symlinkSync(ws.write("elsewhere.md", "secret omega"), path);
    },
    [],
  ],
  [
    "becomes a FIFO",
    (path) => {
      rmSync(path);
      execFileSync("mkfifo", [path]);
    },
    [],
  ],
  [
    "becomes a folder",
    (path) => {
      rmSync(path);
      mkdirSync(path);
    },
    [],
  ],
])("a file that %s between the listing and the reading is taken as it is then, or left out", async (_, change, found) => {
  ws.write("memory/a.md", "alpha");
  const path = ws.write("memory/b.md", "beta");
  let isChanged = false;
  await sync({
    progress: (phase) => {
      if (phase === "write" && !isChanged) change(path);
      if (phase === "write") isChanged = true;
    },
  });
  const paths = matches("omega").map((rowid) => index.db.prepare("SELECT path FROM chunks WHERE rowid = ?").pluck().get(rowid));
  expect([paths, matches("alpha").length]).toEqual([found, 1]);
  expect(matches("secret")).toEqual([]);
});

test("extra paths that are symlinks, pipes, or missing give nothing; those that climb out of the workspace are what was asked for", async () => {
  const outside = join(ws.folder, "outside");
  mkdirSync(join(outside, "docs"), { recursive: true });
  ws.write("../outside/docs/api.md", "the api");
  ws.write("../outside/secret.md", "the secret");
  symlinkSync(join(outside, "secret.md"), join(outside, "docs/link.md"));
  symlinkSync(outside, join(outside, "docs/up"));
  symlinkSync(join(outside, "docs"), join(ws.folder, "linked"));
  execFileSync("mkfifo", [join(outside, "docs/pipe.md"), join(ws.folder, "pipe.md")]);
  const extraPaths = [join(ws.root, "../outside/docs"), join(ws.folder, "linked"), join(ws.folder, "pipe.md"), join(ws.folder, "nowhere")];
  Object.assign(ws.settings, { extraPaths });
  await sync();
  expect(index.db.prepare("SELECT path FROM files").pluck().all()).toEqual(["../outside/docs/api.md"]);
});

test("when the disk is full the whole transaction is taken back, rows and vectors", async () => {
  ws.write("memory/a.md", "alpha");
  await sync();
  const pages = Number(index.db.pragma("page_count", { simple: true }));
  index.db.pragma(`max_page_count = ${pages}`);
  for (let i = 0; i < 100; i++) ws.write(`memory/${i}.md`, `note ${i} ${"word ".repeat(300)}`);
  await expect(sync()).rejects.toMatchObject({ code: "SQLITE_FULL" });
  expect([count("files"), count("chunks"), matches("alpha").length, index.db.inTransaction]).toEqual([1, 1, 1, false]);
  index.db.pragma("max_page_count = 1000000");
  await sync();
  expect(count("files")).toBe(101);
});

test("a source that a sync leaves alone keeps its rows", async () => {
  ws.write("memory/a.md", "alpha");
  await sync();
  const list = async () => ({ documents: [], isComplete: true, problems: [] });
  await sync({ sources: [{ source: "sessions", list }] });
  expect(matches("alpha")).toHaveLength(1);
});

test("a targeted sync takes nothing out but what is gone", async () => {
  const text = (path: string, content: string | undefined): IndexDocument => ({
    path,
    isUnchanged: () => false,
    read: () =>
      content === undefined ? { kind: "gone" } : { kind: "text", text: content, hash: content, mtimeMs: 1, size: 1, lineNumbers: [7, 9] },
  });
  const only = (documents: IndexDocument[], isComplete: boolean): DocumentSource => ({
    source: "sessions",
    list: async () => ({ documents, isComplete, problems: [] }),
  });
  await sync({ sources: [only([text("sessions/a", "alpha\nbeta"), text("sessions/b", "gamma")], true)] });
  await sync({ sources: [only([text("sessions/b", undefined)], false)] });
  expect(index.db.prepare("SELECT path, source, start_line, end_line FROM chunks").raw().all()).toEqual([["sessions/a", "sessions", 7, 9]]);
});

test("a document that cannot be cut is left out and named, the others are indexed", async () => {
  const document = (path: string, text: unknown): IndexDocument => ({
    path,
    isUnchanged: () => false,
    read: () => ({ kind: "text", text: text as string, hash: path, mtimeMs: 1, size: 1 }),
  });
  const list = async () => ({
    documents: [document("bad.md", { no: "text" }), document("good.md", "alpha")],
    isComplete: true,
    problems: [],
  });
  const guard = createDocumentGuard();

  const { skipped } = await sync({ sources: [{ source: "memory", list }], guard });

  expect(matches("alpha")).toHaveLength(1);
  expect(skipped).toEqual([{ path: "bad.md", code: expect.stringContaining("is not a function") }]);
  expect(guard.leftOut()).toEqual({ documents: skipped, total: 1 });
});

test("a document that stopped the index before is left out until it changes, or the quarantine is lifted", async () => {
  const stampNow = () => {
    const { mtimeMs, size } = statSync(ws.path("memory/a.md"));
    return stampOf({ mtimeMs: Math.floor(mtimeMs), size });
  };
  const quarantined = () => createDocumentGuard({ quarantined: [{ path: "memory/a.md", stamp: stampNow() }] });
  ws.write("memory/a.md", "alpha");
  ws.write("memory/b.md", "beta");
  await sync();

  const guard = quarantined();
  await sync({ guard });
  expect([matches("alpha").length, matches("beta").length]).toEqual([0, 1]);
  expect(guard.leftOut()).toEqual({ documents: [{ path: "memory/a.md", code: "STALLED" }], total: 1 });

  ws.write("memory/a.md", "alpha changed");
  await sync({ guard });
  expect(matches("alpha")).toHaveLength(1);
  expect(guard.leftOut().total).toBe(0);

  const lifted = quarantined();
  lifted.release();
  await sync({ guard: lifted });
  expect(matches("alpha")).toHaveLength(1);
});

test("documents that stopped the index are named before all others", () => {
  const guard = createDocumentGuard();
  for (let i = 0; i < 150; i++) guard.leaveOut("memory", { path: `${i}.md`, code: "EACCES" });
  guard.leaveOut("sessions", { path: "sessions/a", code: "STALLED_TRANSCRIPT" });

  const { documents, total } = guard.leftOut();
  expect([documents.length, documents[0]?.path, documents[1]?.path, total]).toEqual([100, "sessions/a", "0.md", 151]);
});
