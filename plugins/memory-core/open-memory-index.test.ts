import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { Worker } from "node:worker_threads";
import Sqlite from "better-sqlite3";
import { isSvcError } from "svc/sdk";
import { eventually } from "svc/sdk/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type IndexThreadOptions, startIndexThread } from "./index-worker-host.ts";
import { noHostHandlers } from "./no-host-handlers.ts";
import { type MemoryIndex, type MemoryIndexOptions, openMemoryIndex } from "./open-memory-index.ts";
import { wordVector } from "./test-adapter.ts";
import { createTestWorkspace, type TestWorkspace } from "./test-workspace.ts";
import type { IndexProgress, SearchRequest } from "./worker-protocol.ts";

let ws: TestWorkspace;
let open: MemoryIndex[];
let log: string[];
beforeEach(() => {
  ws = createTestWorkspace({ "MEMORY.md": "# Home\n\nThe router stands in the hall cupboard.\n" });
  open = [];
  log = [];
});
afterEach(async () => {
  for (const index of open) await index.close();
  ws.remove();
});

function start(over: Partial<MemoryIndexOptions> = {}): MemoryIndex {
  const index = openMemoryIndex({ ...ws.settings, log: (level, message) => log.push(`${level} ${message}`), ...over });
  open.push(index);
  return index;
}

const request = (query: string, over: Partial<SearchRequest> = {}): SearchRequest => ({
  query,
  maxResults: 6,
  minScore: 0.35,
  explicit: false,
  candidateMultiplier: 4,
  sources: ["memory"],
  hybrid: { enabled: true, vectorWeight: 0.7, textWeight: 0.3 },
  mmr: { enabled: false, lambda: 0.7 },
  temporalDecay: { enabled: false, halfLifeDays: 30 },
  maxSnippetChars: 700,
  timeoutMs: 15_000,
  syncAfter: "never",
  ...over,
});
const paths = async (index: MemoryIndex, query: string, over: Partial<SearchRequest> = {}) =>
  (await index.search(request(query, over))).hits.map((hit) => hit.path);
const files = () => readdirSync(dirname(ws.settings.dbPath));

test("the first search on an empty index fills it", async () => {
  expect(await paths(start(), "router")).toEqual(["MEMORY.md"]);
});

test("a later search does not wait for a sync, but starts one when the files are ahead", async () => {
  const index = start();
  await index.sync();
  ws.write("memory/new.md", "the boiler is in the cellar");
  expect(await paths(index, "boiler")).toEqual([]);
  await eventually(async () => (await paths(index, "boiler", { syncAfter: "always" })).length > 0);
});

test("an index of an earlier process answers at once, and the files may be gone by then", async () => {
  const first = start();
  await first.sync();
  await first.close();
  rmSync(ws.root, { recursive: true });
  expect(await paths(start(), "router")).toEqual(["MEMORY.md"]);
});

test("the database can be read by its owner only", async () => {
  await start().sync();
  expect(statSync(ws.settings.dbPath).mode & 0o777).toBe(0o600);
});

test("status counts and lists what is indexed", async () => {
  ws.write("memory/empty.md", "");
  const index = start();
  await index.sync();
  expect(await index.status({ files: true })).toMatchObject({
    files: 2,
    chunks: 1,
    dirty: false,
    syncing: false,
    sourceCounts: [{ source: "memory", files: 2, chunks: 1 }],
    fileList: [
      { path: "MEMORY.md", source: "memory", chunks: 1, mtime: expect.any(Number) },
      { path: "memory/empty.md", source: "memory", chunks: 0 },
    ],
  });
});

test("two syncs at once are one; a forced one is not satisfied by an ordinary one", async () => {
  const index = start();
  const [a, b] = await Promise.all([index.sync(), index.sync()]);
  expect([a, b]).toEqual([
    { started: true, joined: false },
    { started: false, joined: true },
  ]);
  const [c, d] = await Promise.all([index.sync(), index.sync({ force: true })]);
  expect([c.started, d.started]).toEqual([true, true]);
});

test("progress goes from scan to done", async () => {
  const seen: IndexProgress[] = [];
  const index = start({ onProgress: (progress) => seen.push(progress) });
  await index.sync();
  await eventually(() => seen.at(-1)?.phase === "done");
  expect(seen.map((p) => p.phase)).toEqual(["scan", "write", "swap", "done"]);
  expect(seen.at(-1)).toMatchObject({ done: 1, total: 1 });
});

test("reset drops the index and the notes stay; the next search makes it anew", async () => {
  const index = start();
  await index.sync();
  expect(await index.reset()).toEqual({ removed: true });
  expect(files()).toEqual([]);
  expect(await index.reset()).toEqual({ removed: false });
  expect(await paths(index, "router")).toEqual(["MEMORY.md"]);
});

describe("a full reindex", () => {
  const rebuilds = async (over: Partial<MemoryIndexOptions>) => {
    const first = start();
    await first.sync();
    await first.close();
    const seen: string[] = [];
    const second = start({ onProgress: (progress) => seen.push(progress.phase), ...over });
    await second.sync();
    await eventually(() => seen.at(-1) === "done");
    return seen.includes("swap");
  };

  test.each<[string, boolean, Partial<MemoryIndexOptions>]>([
    ["nothing changed", false, {}],
    ["another debounce", false, { watchDebounceMs: 9_000 }],
    ["another chunk size", true, { chunking: { tokens: 100, overlap: 80 } }],
    ["another overlap", true, { chunking: { tokens: 400, overlap: 10 } }],
    ["another tokenizer", true, { tokenizer: "trigram" }],
    ["another extra path", true, { extraPaths: ["/nowhere/at/all"] }],
  ])("%s: %s", async (_, wanted, over) => {
    expect(await rebuilds(over)).toBe(wanted);
  });

  test("answers from the old index while it runs, and leaves no other file behind", async () => {
    for (let i = 0; i < 300; i++) ws.write(`memory/${i}.md`, `note ${i} with some words\n`.repeat(20));
    const index = start();
    await index.sync();
    ws.write("memory/late.md", "xylophone");
    let isDone = false;
    const rebuild = index.sync({ force: true }).then(() => {
      isDone = true;
    });
    let answered = 0;
    while (!isDone) if ((await paths(index, "router"))[0] === "MEMORY.md") answered++;
    await rebuild;
    expect(answered).toBeGreaterThan(0);
    expect(await paths(index, "xylophone")).toEqual(["memory/late.md"]);
    await index.close();
    expect(files()).toEqual(["main.sqlite"]);
  });

  test("that cannot be written keeps the old index, says so, and works again later", async () => {
    const index = start();
    await index.sync();
    const lock = `${ws.settings.dbPath}.reindex-lock`;
    writeFileSync(lock, JSON.stringify({ pid: process.ppid, startTime: null }));
    await expect(index.sync({ force: true })).rejects.toMatchObject({ code: "memory-index-locked" });
    expect(await index.status()).toMatchObject({ dirty: true, lastError: expect.stringContaining("being rebuilt by process") });
    expect(await paths(index, "router")).toEqual(["MEMORY.md"]);
    rmSync(lock);
    await index.sync({ force: true });
    expect(await index.status()).toMatchObject({ dirty: false });
    expect((await index.status()).lastError).toBeUndefined();
  });
});

describe("a file at store.path", () => {
  const put = (content: string | Uint8Array) => {
    mkdirSync(dirname(ws.settings.dbPath), { recursive: true });
    writeFileSync(ws.settings.dbPath, content);
  };

  test("that is damaged is put aside and the index is rebuilt", async () => {
    put("this is no database, only text that is long enough to be read as a header of one ".repeat(20));
    expect(await paths(start(), "router")).toEqual(["MEMORY.md"]);
    expect(files()).toContain("main.sqlite.damaged");
    expect(log.join()).toContain("damaged");
  });

  test("that is empty is replaced", async () => {
    put("");
    expect(await paths(start(), "router")).toEqual(["MEMORY.md"]);
  });

  test("that is a database of something else is never touched", async () => {
    put("");
    const other = new Sqlite(ws.settings.dbPath);
    other.exec("CREATE TABLE mine(x); INSERT INTO mine VALUES (1)");
    other.close();
    const index = start();
    await expect(index.sync({ force: true })).rejects.toMatchObject({ code: "memory-index-unusable" });
    await expect(index.reset()).rejects.toMatchObject({ code: "memory-index-unusable" });
    const again = new Sqlite(ws.settings.dbPath);
    expect(again.prepare("SELECT x FROM mine").pluck().get()).toBe(1);
    again.close();
  });

  test("that is damaged in its pages is put aside when it is opened", async () => {
    for (let i = 0; i < 50; i++) ws.write(`memory/${i}.md`, `note ${i} `.repeat(200));
    const index = start();
    await index.sync();
    await index.close();
    const fd = openSync(ws.settings.dbPath, "r+");
    writeSync(fd, new Uint8Array(100_000).fill(7), 0, 100_000, 8192 * 3);
    closeSync(fd);
    expect(await paths(start(), "router")).toEqual(["MEMORY.md"]);
    expect(files()).toContain("main.sqlite.damaged");
  });

  const damageText = () => {
    const db = new Sqlite(ws.settings.dbPath);
    db.unsafeMode(true);
    db.exec("UPDATE chunks_fts_data SET block = x'ffffffffffffffffff'");
    db.close();
  };

  test("that turns out to be damaged in a sync is rebuilt by it", async () => {
    const index = start();
    await index.sync();
    damageText();
    ws.write("MEMORY.md", "the xylophone");
    await index.sync();
    expect(await paths(index, "xylophone")).toEqual(["MEMORY.md"]);
    expect(files()).toContain("main.sqlite.damaged");
  });

  test("that turns out to be damaged in a search is rebuilt after it", async () => {
    const index = start();
    await index.sync();
    damageText();
    const meanwhile = await index.search(request("router"));
    expect(meanwhile).toMatchObject({ hits: [{ path: "MEMORY.md" }], degraded: expect.stringContaining("damaged") });
    await eventually(async () => (await paths(index, "router").catch(() => [])).length === 1);
  });
});

describe("watching", () => {
  test("an edited note is found without anybody asking for a sync", async () => {
    const index = start();
    await index.watch();
    await eventually(() => index.state().watching && !index.state().syncing && !index.state().dirty);
    ws.write("MEMORY.md", "# Home\n\nThe xylophone stands in the attic.\n");
    await eventually(async () => (await paths(index, "xylophone")).length === 1);
  });

  test("notes in new folders, a new memory/ and a workspace made later are found", async () => {
    rmSync(ws.root, { recursive: true });
    const index = start();
    await index.watch();
    await eventually(() => index.state().watching && !index.state().syncing && !index.state().dirty);
    ws.write("memory/2026/04/deep.md", "the xylophone");
    await eventually(async () => (await paths(index, "xylophone")).length === 1);
    ws.write("memory/2026/05/other.md", "the marimba");
    await eventually(async () => (await paths(index, "marimba")).length === 1);
    ws.write("MEMORY.md", "the celesta");
    await eventually(async () => (await paths(index, "celesta")).length === 1);
  });

  test("a folder that is moved away takes its notes with it", async () => {
    ws.write("memory/sub/a.md", "the xylophone");
    const index = start();
    await index.watch();
    await eventually(async () => (await paths(index, "xylophone")).length === 1 && !index.state().dirty);
    renameSync(ws.path("memory/sub"), join(ws.folder, "away"));
    await eventually(async () => (await paths(index, "xylophone")).length === 0);
  });

  test("a note behind a symlink is never found", async () => {
    writeFileSync(join(ws.folder, "secret.md"), "the xylophone");
    const index = start();
    await index.watch();
    await eventually(() => index.state().watching && !index.state().dirty);
    ws.write("memory/a.md", "marker");
    symlinkSync(join(ws.folder, "secret.md"), ws.path("memory/link.md"));
    await eventually(async () => (await paths(index, "marker")).length === 1);
    expect(await paths(index, "xylophone")).toEqual([]);
  });
});

describe("the thread", () => {
  test("starts with the first request, not before", async () => {
    start();
    expect(existsSync(ws.settings.dbPath)).toBe(false);
    expect(open[0]?.state()).toEqual({ files: 0, chunks: 0, dirty: true, syncing: false, watching: false });
  });

  test("gives what it found when time is up", async () => {
    const index = start();
    const late = await index.search(request("router", { timeoutMs: 1 }));
    expect(late).toEqual({ hits: [], partial: true, mode: "fts-only" });
    expect(await paths(index, "router")).toEqual(["MEMORY.md"]);
  });

  test("gives an empty answer in time while it waits for the one before to end", async () => {
    const index = start({ startAfter: new Promise(() => undefined) });
    expect(await index.search(request("router", { timeoutMs: 20 }))).toEqual({ hits: [], partial: true, mode: "fts-only" });
  });

  test("a wait ends with its signal", async () => {
    const stop = new AbortController();
    const search = start().search(request("router"), { signal: stop.signal });
    stop.abort(new Error("enough"));
    await expect(search).rejects.toThrow("enough");
  });

  test("refuses after it was closed", async () => {
    const index = start();
    await index.sync();
    await index.close();
    await expect(index.search(request("router"))).rejects.toMatchObject({ code: "memory-worker-down" });
  });

  test("that dies rejects its calls at once, refuses for a moment, and is started again with its watch", async () => {
    const threads: Worker[] = [];
    const startThread: IndexThreadOptions["startThread"] = (data) => {
      const thread = startIndexThread(data);
      threads.push(thread);
      return thread;
    };
    const index = start({ threads: { startThread } });
    await index.watch();
    await eventually(() => index.state().watching && !index.state().dirty);

    const waiting = index.sync({ force: true });
    void threads[0]?.terminate();

    await expect(waiting).rejects.toMatchObject({ code: "memory-worker-down" });
    await expect(index.search(request("router"))).rejects.toMatchObject({ code: "memory-worker-down" });
    expect(index.state()).toMatchObject({ watching: false, dirty: true, lastError: expect.any(String) });
    await eventually(() => threads.length === 2 && index.state().watching && !index.state().dirty);
    ws.write("memory/a.md", "the xylophone");
    await eventually(async () => (await paths(index, "xylophone")).length === 1);
    expect(index.state().lastError).toBeUndefined();
  });

  test("is told who embeds before anything else, and the next one after its death again", async () => {
    const threads: Worker[] = [];
    const startThread: IndexThreadOptions["startThread"] = (data) => {
      const thread = startIndexThread(data);
      threads.push(thread);
      return thread;
    };
    const asked: string[] = [];
    const embed = async (text: string) => {
      asked.push(text);
      return wordVector(text, 16);
    };
    const handlers = {
      ...noHostHandlers,
      embedQuery: ({ text }: { text: string }) => embed(text),
      embed: ({ texts }: { texts: string[] }) => Promise.all(texts.map(embed)),
    };
    const index = start({ threads: { startThread }, handlers });
    const facts = { id: "acme", model: "m", providerKey: "k", pace: "remote" as const, dims: 16, multimodal: false, batch: false };
    index.assign({ provider: facts, keepVectors: true });
    expect(threads).toEqual([]);
    await index.sync();
    expect(index.state().vectors).toEqual({ provider: "acme", model: "m", dims: 16 });

    const embedded = asked.length;
    await threads[0]?.terminate();
    await eventually(async () => (await index.search(request("router")).catch(() => undefined))?.mode === "hybrid");
    expect(asked.slice(embedded)).toEqual(["router"]);
    index.assign({ provider: null, keepVectors: true, reason: "acme: 503" });
    expect(await index.search(request("router"))).toMatchObject({ mode: "fts-only", degraded: expect.stringContaining("acme: 503") });
  });

  test("closing in the middle of a rebuild leaves no temporary file", async () => {
    for (let i = 0; i < 500; i++) ws.write(`memory/${i}.md`, `note ${i} with some words\n`.repeat(40));
    const seen: string[] = [];
    const index = start({ onProgress: (progress) => seen.push(progress.phase) });
    const sync = index.sync().catch((error) => (isSvcError(error) ? error.code : String(error)));
    await eventually(() => seen.includes("write"));
    await index.close();
    expect(await sync).toBe("memory-sync-aborted");
    expect(files()).toEqual([]);
  });

  test("a folder that may not be written is an error in status, and reading notes still works", async () => {
    mkdirSync(dirname(ws.settings.dbPath), { recursive: true });
    mkdirSync(ws.settings.dbPath);
    const index = start();
    await expect(index.sync()).rejects.toMatchObject({ code: "memory-index-unusable" });
    expect(await index.get("MEMORY.md")).toMatchObject({ kind: "text" });
    chmodSync(ws.settings.dbPath, 0o700);
  });
});
