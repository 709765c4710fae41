import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import Sqlite from "better-sqlite3";
import { eventually } from "svc/sdk/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createTestEngine, type TestEngine } from "../test-engine.ts";
import { createTestHost, embedFault, type TestHost, testFacts } from "../test-host.ts";
import { createTestWorkspace, type TestWorkspace } from "../test-workspace.ts";
import type { RebuildStep } from "./rebuild.ts";
import { rebuildLockPath } from "./rebuild-lock.ts";

let ws: TestWorkspace;
let host: TestHost;
let index: TestEngine;
let child: ChildProcess | undefined;
beforeEach(() => {
  ws = createTestWorkspace({ "memory/car.md": "My car is fast.", "memory/bike.md": "My bicycle is slow." });
  host = createTestHost();
  index = createTestEngine(ws.settings, host);
});
afterEach(async () => {
  child?.kill("SIGKILL");
  child = undefined;
  await index.close();
  ws.remove();
});

const other = testFacts({ id: "other", providerKey: "key-2" });
const names = () =>
  readdirSync(dirname(ws.settings.dbPath))
    .map((name) => name.replace("main.sqlite", ""))
    .filter((name) => !/^-(wal|shm)$/.test(name));
const whole = () => {
  const db = new Sqlite(ws.settings.dbPath, { readonly: true });
  try {
    return db.pragma("integrity_check", { simple: true });
  } finally {
    db.close();
  }
};

const steps: RebuildStep[] = [
  "created",
  "cache-copied",
  "indexed",
  "finished",
  "closed",
  "synced",
  "live-closed",
  "moved-away",
  "moved-in",
  "backup-removed",
];

test("the old index answers until the new one is in its place", async () => {
  await index.provide(testFacts());
  await index.sync();
  const answers = new Map<RebuildStep, unknown>();
  const asked: Array<Promise<unknown>> = [];
  index.step = (step) => {
    if (step === "indexed") asked.push(index.search("bicycle").then(({ hits }) => answers.set(step, hits[0]?.path)));
  };
  host.embed = async () => {
    const { hits } = await index.search("bicycle", { maxResults: 1 });
    answers.set("created", hits[0]?.path);
    return undefined;
  };
  await index.sync({ force: true });
  await Promise.all(asked);
  expect(Object.fromEntries(answers)).toEqual({ created: "memory/bike.md", indexed: "memory/bike.md" });
});

test("another provider makes a new index by itself; meanwhile words are searched and it says why", async () => {
  await index.provide(testFacts());
  await index.sync();
  let during: unknown;
  host.embed = async () => {
    during ??= await index.search("bicycle");
    return undefined;
  };
  await index.provide(other);
  await eventually(async () => (await index.status()).vectors?.provider === "other");
  expect(during).toMatchObject({
    mode: "fts-only",
    hits: [{ path: "memory/bike.md" }],
    degraded: expect.stringContaining("rebuilt for other/words"),
  });
  expect(await index.search("bicycle")).toMatchObject({ mode: "hybrid" });
});

test("a provider that changes during a rebuild is the one the index is made for", async () => {
  await index.provide(testFacts());
  host.embed = async (_texts, nth) => {
    if (nth === 1) await index.provide(other);
    return undefined;
  };
  await index.sync();
  expect((await index.status()).vectors).toMatchObject({ provider: "other" });
});

test("a rebuild without a vector never replaces an index that has some: it learns the new words and keeps its vectors", async () => {
  await index.provide(testFacts());
  await index.sync();
  ws.write("memory/boat.md", "My boat is yellow.");
  host.embed = () => {
    throw embedFault("quota", "no money left");
  };
  await index.provide(other);
  await eventually(async () => (await index.status()).lastError !== undefined);
  expect(await index.status()).toMatchObject({ vectors: { provider: "test" }, lastError: expect.stringContaining("no money left") });
  expect((await index.search("boat")).hits).toMatchObject([{ path: "memory/boat.md" }]);
  await expect(index.sync()).rejects.toMatchObject({ code: "memory-index-failed" });

  host.embed = () => undefined;
  await index.provide(testFacts());
  await index.sync({ reason: "request" });
  expect(await index.search("car")).toMatchObject({ mode: "hybrid" });
});

test("a forced rebuild that the provider breaks off keeps the vectors there are", async () => {
  await index.provide(testFacts());
  await index.sync();
  host.embed = () => {
    throw embedFault("auth");
  };
  await expect(index.sync({ force: true })).rejects.toMatchObject({ code: "memory-index-failed" });
  expect(await index.search("car")).toMatchObject({ mode: "hybrid" });
  expect(names()).toEqual([""]);
});

test("a scope that changes while nobody embeds keeps the vectors of what stays", async () => {
  await index.provide(testFacts());
  await index.sync();
  await index.reopen(undefined, { extraPaths: [ws.path("more")] });
  ws.write("more/extra.md", "An extra note.");
  await index.provide(null, true);
  await index.sync();
  expect((await index.search("extra")).hits).toMatchObject([{ path: "more/extra.md" }]);
  host.groups.length = 0;
  await index.provide(testFacts());
  await index.sync();
  expect(host.groups.flat()).toEqual(["An extra note."]);
});

test("a rebuild that was asked for while one goes on is that one", async () => {
  await index.provide(testFacts());
  await index.sync();
  host.groups.length = 0;
  await index.provide(other);
  expect(await index.sync({ force: true })).toEqual({ started: false, joined: true });
  expect(host.groups.flat().sort()).toEqual(["My bicycle is slow.", "My car is fast."]);
  expect((await index.status()).vectors).toMatchObject({ provider: "other" });
});

test("an index that is only looked at is not brought up to date for that", async () => {
  await index.provide(testFacts());
  await index.sync();
  ws.write("memory/boat.md", "My boat is yellow.");
  host.groups.length = 0;
  await index.reopen(other);
  expect(await index.status()).toMatchObject({ syncing: false, dirty: true, files: 2, vectors: { provider: "test" } });
  expect(host.groups).toEqual([]);
});

test("a library of vectors that cannot be loaded is one warning, however often the index is rebuilt", async () => {
  await index.reopen(testFacts(), { vector: { enabled: true, extensionPath: ws.path("none.so") } });
  await index.sync();
  await index.sync({ force: true });
  expect(index.logs()).toEqual([expect.stringMatching(/could not be loaded: .*none\.so.*; vectors are compared in the process$/)]);
  expect(await index.search("car")).toMatchObject({ mode: "hybrid" });
  index.news.length = 0;
  await index.reopen(testFacts(), { vector: { enabled: false, extensionPath: undefined } });
  await index.sync();
  expect(index.logs()).toEqual([]);
});

test("the first search of a session brings the notes up to date and leaves the transcripts alone", async () => {
  await index.sync();
  await index.reopen(testFacts(), { sources: ["memory", "sessions"] });
  await index.sync();
  await index.reopen(testFacts(), { sources: ["memory", "sessions"] });
  index.news.length = 0;
  host.calls.length = 0;
  await index.search("car", { syncAfter: "always" });
  await eventually(() => index.news.some((item) => item.news === "synced"));
  expect(host.calls).not.toContain("listSessions");
});

describe("a sync of certain transcripts", () => {
  const targeted = () => index.engine.sync({ force: false, reason: "session-end", sessionIds: ["s1"] });
  beforeEach(() => index.reopen(testFacts(), { sources: ["memory", "sessions"] }));

  test("says nothing about the notes: what is wrong with them, and that they have changed, stays", async () => {
    await index.sync();
    index.step = () => {
      throw new Error("database or disk is full");
    };
    await expect(index.sync({ force: true })).rejects.toThrow("full");
    await targeted();
    expect(await index.status()).toMatchObject({ dirty: true, lastError: "database or disk is full" });
  });

  test("is not the sync that somebody else waits for", async () => {
    await index.sync();
    const { call } = host;
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    let isReading = false;
    host.call = async (method, ...rest) => {
      if (method === "readSession") {
        isReading = true;
        await gate;
      }
      return call(method, ...rest);
    };
    const first = targeted();
    await eventually(() => isReading);
    ws.write("memory/boat.md", "My boat is yellow.");
    const sync = index.sync();
    release();
    expect(await first).toEqual({ started: true, joined: false });
    expect(await sync).toEqual({ started: true, joined: false });
    expect((await index.search("boat")).hits[0]).toMatchObject({ path: "memory/boat.md" });
  });
});

describe("a rebuild that fails", () => {
  test.each(steps.slice(0, 8))("at %s leaves the old index, no other file, and the reason", async (at) => {
    await index.provide(testFacts());
    await index.sync();
    ws.write("memory/boat.md", "My boat is yellow.");
    index.step = (step) => {
      if (step === at) throw Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL" });
    };
    await expect(index.sync({ force: true })).rejects.toMatchObject({ code: "SQLITE_FULL" });
    if (at === "moved-away") await index.reopen(testFacts()); // as after a crash there
    await index.status();
    expect(names()).toEqual([""]);
    expect((await index.search("car")).hits[0]).toMatchObject({ path: "memory/car.md" });
    if (at !== "moved-away") expect(await index.status()).toMatchObject({ dirty: true, lastError: "database or disk is full" });
    index.step = () => undefined;
    await index.sync({ force: true });
    expect((await index.search("boat")).hits[0]).toMatchObject({ path: "memory/boat.md" });
    expect(whole()).toBe("ok");
  });

  test("on a folder that cannot be written leaves search to the files", async () => {
    rmSync(dirname(ws.settings.dbPath), { recursive: true, force: true });
    writeFileSync(dirname(ws.settings.dbPath), "in the way");
    const { hits, degraded } = await index.search("bicycle");
    expect(hits).toMatchObject([{ path: "memory/bike.md" }]);
    expect(degraded).toEqual(expect.any(String));
  });
});

describe("two processes on one index", () => {
  const sleeper = () => spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });

  test("one waits for the rebuild of the other, and does not repeat it", async () => {
    const { dbPath } = ws.settings;
    await index.provide(testFacts());
    await index.sync();
    await index.close();
    renameSync(dbPath, `${dbPath}.made`);
    child = sleeper();
    writeFileSync(rebuildLockPath(dbPath), JSON.stringify({ pid: child.pid, startTime: null }));
    await index.reopen(testFacts());
    let rebuilds = 0;
    index.step = () => void rebuilds++;
    const waiting = index.sync();
    await eventually(() => index.news.some((item) => item.news === "state" && item.state.syncing));
    renameSync(`${dbPath}.made`, dbPath);
    rmSync(rebuildLockPath(dbPath));
    await waiting;
    expect(rebuilds).toBe(0);
    expect(await index.search("car")).toMatchObject({ mode: "hybrid" });
  });

  test("one that does not get the lock in time answers from the old index", async () => {
    await index.provide(testFacts());
    await index.sync();
    child = sleeper();
    writeFileSync(rebuildLockPath(ws.settings.dbPath), JSON.stringify({ pid: child.pid, startTime: null }));
    await expect(index.sync({ force: true })).rejects.toMatchObject({ code: "memory-index-locked", fields: { pid: child.pid } });
    expect(await index.search("car")).toMatchObject({ mode: "hybrid", hits: [{ path: "memory/car.md" }, {}] });
    expect(existsSync(rebuildLockPath(ws.settings.dbPath))).toBe(true);
    rmSync(rebuildLockPath(ws.settings.dbPath));
  });

  test("an index that another process has replaced is opened anew", async () => {
    await index.provide(testFacts());
    await index.sync();
    const second = createTestEngine(ws.settings, host);
    await second.provide(testFacts());
    await second.sync(); // what it begins by itself would else write the boat into the old one
    ws.write("memory/boat.md", "My boat is yellow.");
    await second.sync({ force: true });
    await second.close();
    expect((await index.search("boat")).hits[0]).toMatchObject({ path: "memory/boat.md" });
  });

  test("both may update it at the same time", async () => {
    await index.provide(testFacts());
    await index.sync();
    const second = createTestEngine(ws.settings, host);
    await second.provide(testFacts());
    for (let i = 0; i < 50; i++) ws.write(`memory/${i}.md`, `note number ${i}`);
    await Promise.all([index.sync(), second.sync()]);
    expect(await index.status()).toMatchObject({ files: 52, chunks: 52 });
    await second.close();
    expect(whole()).toBe("ok");
  });
});

describe("damage of the index that is being made", () => {
  const corrupt = () => new Sqlite.SqliteError("database disk image is malformed", "SQLITE_CORRUPT");

  test("makes it anew from the files, and leaves the old one alone until then", async () => {
    await index.sync();
    let times = 0;
    index.step = (step) => {
      if (step === "indexed" && times++ === 0) throw corrupt();
    };
    await index.sync({ force: true });
    expect([times, names(), whole()]).toEqual([2, [""], "ok"]);
    expect((await index.search("bicycle")).hits[0]?.path).toBe("memory/bike.md");
  });

  test("that comes again is told, and the old one answers", async () => {
    await index.sync();
    index.step = (step) => {
      if (step === "indexed") throw corrupt();
    };
    await expect(index.sync({ force: true })).rejects.toMatchObject({ code: "memory-index-failed" });
    expect(names()).toEqual([""]);
    expect((await index.search("bicycle")).hits[0]?.path).toBe("memory/bike.md");
  });

  test("costs no vectors while nobody embeds", async () => {
    await index.provide(testFacts());
    await index.sync();
    await index.provide(null, true);
    index.step = (step) => {
      if (step === "indexed") throw corrupt();
    };
    await expect(index.sync({ force: true })).rejects.toMatchObject({ code: "memory-index-failed" });
    index.step = () => undefined;
    expect((await index.status()).vector.dims).toBe(64);
  });
});
