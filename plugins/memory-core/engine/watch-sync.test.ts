import { renameSync, rmSync, statSync, symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "svc/sdk/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createTestEngine, type TestEngine } from "../test-engine.ts";
import { createTestHost } from "../test-host.ts";
import { createTestWorkspace, type TestWorkspace } from "../test-workspace.ts";

let ws: TestWorkspace;
let index: TestEngine;
beforeEach(async () => {
  ws = createTestWorkspace({ "memory/a.md": "alpha", "memory/sub/b.md": "beta", "memory/sub/c.md": "gamma" });
  index = createTestEngine(ws.settings, createTestHost());
  await index.engine.watch();
  await settled();
});
afterEach(async () => {
  await index.close();
  ws.remove();
});

/** Documents that the syncs since the last call have looked at, each. */
const looks = () =>
  index.news.splice(0).flatMap((item) => (item.news === "progress" && item.progress.phase === "write" ? [item.progress.total] : []));
const settled = async () => {
  await eventually(async () => {
    const { syncing, dirty, files } = await index.status();
    return !syncing && !dirty && files > 0;
  });
  looks();
};
const paths = async () => (await index.status()).fileList?.map(({ path }) => path);
const found = async (word: string) => (await index.search(word)).hits.map(({ path }) => path);

test("a changed note is found, and nothing else was looked at", async () => {
  ws.write("memory/a.md", "omega");
  await eventually(async () => (await found("omega")).length === 1);
  expect([await found("alpha"), looks()]).toEqual([[], [1]]);
  expect(await index.status()).toMatchObject({ dirty: false, lastSyncMs: expect.any(Number) });
});

test("new, renamed and deleted notes are followed", async () => {
  ws.write("memory/sub/new.md", "delta");
  await eventually(async () => (await found("delta")).length === 1);
  renameSync(ws.path("memory/sub/new.md"), ws.path("memory/other.md"));
  await eventually(async () => (await found("delta"))[0] === "memory/other.md");
  rmSync(ws.path("memory/other.md"));
  await eventually(async () => (await found("delta")).length === 0);
  expect(looks()).toEqual([1, 1]);
  expect(await paths()).toEqual(["memory/a.md", "memory/sub/b.md", "memory/sub/c.md"]);
});

test("a folder that is moved in, moved, and moved away takes its notes along", async () => {
  ws.write("../elsewhere/deep/d.md", "delta");
  renameSync(join(ws.folder, "elsewhere"), ws.path("memory/in"));
  await eventually(async () => (await found("delta"))[0] === "memory/in/deep/d.md");
  renameSync(ws.path("memory/in"), ws.path("memory/on"));
  await eventually(async () => (await found("delta"))[0] === "memory/on/deep/d.md");
  ws.write("memory/on/deep/d.md", "epsilon");
  await eventually(async () => (await found("epsilon"))[0] === "memory/on/deep/d.md");
  renameSync(ws.path("memory/on"), join(ws.folder, "elsewhere"));
  await eventually(async () => (await found("epsilon")).length === 0);
  expect(await paths()).toEqual(["memory/a.md", "memory/sub/b.md", "memory/sub/c.md"]);
});

test("what a folder was swapped for does not come in by its notes", async () => {
  ws.write("../outside/b.md", "secret");
  renameSync(ws.path("memory/sub"), join(ws.folder, "old"));
  symlinkSync(join(ws.folder, "outside"), ws.path("memory/sub"));
  ws.write("memory/sub/b.md", "secret again");
  await eventually(async () => (await paths())?.length === 1);
  expect([await paths(), await found("secret")]).toEqual([["memory/a.md"], []]);
});

test("a change that time and size do not show is seen", async () => {
  const path = ws.path("memory/a.md");
  const past = new Date(Date.now() - 60_000);
  utimesSync(path, past, past);
  await index.sync();
  await settled();
  const { mtime } = statSync(path);
  ws.write("memory/a.md", "omega");
  utimesSync(path, mtime, mtime);
  await eventually(async () => (await found("omega")).length === 1);
});

test("a sync of everything does not join one that looks at known changes; the other way round it does", async () => {
  const known = index.sync({ reason: "watch" });
  const all = index.sync({ reason: "request" });
  expect([await known, await all]).toEqual([
    { started: true, joined: false },
    { started: true, joined: false },
  ]);
  const again = index.sync({ reason: "request" });
  expect(await index.sync({ reason: "watch" })).toEqual({ started: false, joined: true });
  await again;
});

test("after another process has made the index anew, all files are looked at", async () => {
  const other = createTestEngine(ws.settings, createTestHost());
  await other.sync({ force: true });
  await other.close();
  ws.write("memory/a.md", "omega");
  await eventually(async () => (await found("omega")).length === 1);
  expect(looks()).toEqual([3]);
  ws.write("memory/a.md", "psi");
  await eventually(async () => (await found("psi")).length === 1);
  expect(looks()).toEqual([1]);
});

test("transcripts that are due make the index dirty until they are read, whatever became of the files", async () => {
  const host = createTestHost();
  let isDown = true;
  const transcript = { messages: [{ seq: 1, role: "user" as const, text: "delta", ts: 1 }], total: 1 };
  const call: typeof host.call = async (method, params, options) => {
    if (method === "listSessions") return [{ sessionId: "s", messages: 1 }] as never;
    if (method !== "readSession") return host.call(method, params, options);
    if (isDown) throw new Error("the store is away");
    return transcript as never;
  };
  const other = createTestEngine(
    { ...ws.settings, dbPath: join(ws.folder, "index/other.sqlite"), sources: ["memory", "sessions"] },
    { ...host, call },
  );
  await other.sync();
  expect((await other.status()).dirty).toBe(true);
  await other.sync({ reason: "watch" });
  expect((await other.status()).dirty).toBe(true);
  isDown = false;
  await other.sync({ reason: "session-delta" });
  expect(await other.status()).toMatchObject({ dirty: false, files: 4 });
  await other.close();
});
