import { mkdirSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createTestWorkspace, type TestWorkspace } from "../test-workspace.ts";
import { listMemory } from "./listing.ts";
import { createPacer } from "./pacer.ts";

let ws: TestWorkspace;
beforeEach(() => {
  ws = createTestWorkspace();
});
afterEach(() => ws.remove());

const pacer = () => createPacer(new AbortController().signal);
const list = (extraPaths: string[] = []) => listMemory({ workspace: ws.root, extraPaths }, pacer());
const paths = async (extraPaths: string[] = []) => (await list(extraPaths)).files.map((file) => file.path);

test("curated notes and every Markdown file below memory/ are listed, nothing else of the workspace", async () => {
  for (const path of [
    "MEMORY.md",
    "memory/2026-04-01.md",
    "memory/a/b/c.MD",
    "AGENTS.md",
    "DREAMS.md",
    "notes/x.md",
    "memory/x.txt",
    "memory/.dreams/state.json",
  ])
    ws.write(path, "x");
  expect(await paths()).toEqual(["MEMORY.md", "memory/2026-04-01.md", "memory/a/b/c.MD"]);
});

test("a missing workspace is an empty one, watched from its nearest parent", async () => {
  const missing = join(ws.root, "not", "yet");
  const listing = await listMemory({ workspace: missing, extraPaths: [] }, pacer());
  expect(listing.files).toEqual([]);
  expect(listing.problems).toEqual([]);
  expect(listing.directories.map((d) => d.path)).toEqual([ws.root]);
});

test("symlinks are skipped: files, folders, curated notes and memory/ itself", async () => {
  ws.write("elsewhere/secret.md", "x");
  ws.write("memory/real.md", "x");
  symlinkSync(ws.path("elsewhere/secret.md"), ws.path("memory/link.md"));
  symlinkSync(ws.path("elsewhere"), ws.path("memory/folder"));
  symlinkSync(ws.path("elsewhere/secret.md"), ws.path("MEMORY.md"));
  expect(await paths()).toEqual(["memory/real.md"]);

  renameSync(ws.path("memory"), ws.path("moved"));
  symlinkSync(ws.path("moved"), ws.path("memory"));
  expect(await paths()).toEqual([]);
});

test("extra paths may be files or folders, inside or outside of the workspace, but no symlinks", async () => {
  ws.write("../team/api.md", "x");
  ws.write("../team/deep/more.md", "x");
  ws.write("../team/skip.txt", "x");
  ws.write("../single.md", "x");
  symlinkSync(join(ws.folder, "team"), join(ws.folder, "link"));
  const at = (name: string) => join(ws.folder, name);
  expect(await paths([at("team"), at("single.md"), at("link"), at("missing"), at("team/skip.txt")])).toEqual([
    "../team/api.md",
    "../team/deep/more.md",
    "../single.md",
  ]);
});

test("a file reached twice is listed once, under its first name", async () => {
  ws.write("memory/a.md", "x");
  ws.write("memory/sub/b.md", "x");
  expect(await paths([ws.path("memory/sub"), ws.path("memory/a.md"), ws.root])).toEqual(["memory/a.md", "memory/sub/b.md"]);
});

test("folders of tools are not walked, unless one is the root itself", async () => {
  for (const name of [".git", "node_modules", ".venv", "__pycache__"]) ws.write(`memory/${name}/x.md`, "x");
  ws.write("node_modules/pkg/readme.md", "x");
  expect(await paths()).toEqual([]);
  expect(await paths([ws.path("node_modules/pkg")])).toEqual(["node_modules/pkg/readme.md"]);
});

test("a path that cannot be looked at is a problem, and the rest is listed", async () => {
  ws.write("memory/a.md", "x");
  const impossible = ws.path(`${"x".repeat(300)}.md`);
  const listing = await list([impossible]);
  expect(listing.files.map((f) => f.path)).toEqual(["memory/a.md"]);
  expect(listing.problems).toContainEqual({ path: impossible, code: "ENAMETOOLONG" });
});

test("every folder that may bring a note is watched, once", async () => {
  ws.write("memory/a/b/c.md", "x");
  mkdirSync(ws.path("memory/empty"));
  ws.write("../single.md", "x");
  const { directories } = await list([join(ws.folder, "single.md"), join(ws.folder, "later/on")]);
  expect(directories.map((d) => d.path).sort()).toEqual(
    [ws.folder, ws.root, ws.path("memory"), ws.path("memory/a"), ws.path("memory/a/b"), ws.path("memory/empty")].sort(),
  );
});

test("a listing can be stopped", async () => {
  ws.write("memory/a.md", "x");
  const stop = new AbortController();
  stop.abort();
  await expect(listMemory({ workspace: ws.root, extraPaths: [] }, createPacer(stop.signal))).rejects.toMatchObject({
    code: "memory-sync-aborted",
  });
});
