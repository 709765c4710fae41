import { execFileSync } from "node:child_process";
import { mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createTestWorkspace, type TestWorkspace } from "../test-workspace.ts";
import { listChanged, listMemory } from "./listing.ts";
import { createPacer } from "./pacer.ts";

let ws: TestWorkspace;
beforeEach(() => {
  ws = createTestWorkspace({ "memory/a.md": "a", "memory/sub/b.md": "b", "MEMORY.md": "m", "elsewhere/secret.md": "s" });
});
afterEach(() => ws.remove());

/** A look at single files after a change, and what the whole listing has of them then. */
async function both(changed: string[], change: () => void, extraPaths: string[] = []) {
  const roots = { workspace: ws.root, extraPaths, modalities: ["image" as const] };
  const pacer = createPacer(new AbortController().signal);
  const before = await listMemory(roots, pacer);
  change();
  const found = listChanged(
    changed.map((path) => join(ws.root, path)),
    { tree: before.tree, count: before.files.length },
    roots,
  );
  const { files } = await listMemory(roots, pacer);
  return { found, listed: files.filter(({ path }) => changed.includes(path)) };
}

test.each<[string, string[], () => void, string[]]>([
  ["a changed note", ["memory/a.md"], () => ws.write("memory/a.md", "other"), ["memory/a.md"]],
  ["a new note in a folder", ["memory/sub/new.md"], () => ws.write("memory/sub/new.md", "x"), ["memory/sub/new.md"]],
  ["a curated note", ["MEMORY.md"], () => ws.write("MEMORY.md", "other"), ["MEMORY.md"]],
  ["a deleted note", ["memory/a.md"], () => rmSync(ws.path("memory/a.md")), []],
  ["a renamed note", ["memory/a.md", "memory/z.md"], () => renameSync(ws.path("memory/a.md"), ws.path("memory/z.md")), ["memory/z.md"]],
  ["a note that is no part of the memory", ["AGENTS.md"], () => ws.write("AGENTS.md", "x"), []],
  ["a picture among the notes", ["memory/p.png"], () => ws.write("memory/p.png", "x"), []],
  [
    "a note that became a symlink",
    ["memory/a.md"],
    () => {
      rmSync(ws.path("memory/a.md"));
      symlinkSync(ws.path("elsewhere/secret.md"), ws.path("memory/a.md"));
    },
    [],
  ],
  [
    "a curated note that became a symlink",
    ["MEMORY.md"],
    () => {
      rmSync(ws.path("MEMORY.md"));
      symlinkSync(ws.path("elsewhere/secret.md"), ws.path("MEMORY.md"));
    },
    [],
  ],
  [
    "a note that became a FIFO",
    ["memory/a.md"],
    () => {
      rmSync(ws.path("memory/a.md"));
      execFileSync("mkfifo", [ws.path("memory/a.md")]);
    },
    [],
  ],
])("%s is listed by itself as in the whole listing", async (_, changed, change, expected) => {
  const { found, listed } = await both(changed, change);
  expect(found?.files.map(({ path }) => path)).toEqual(expected);
  expect(found?.files).toEqual(listed);
});

test("an extra path and what is below one are listed by themselves, with pictures", async () => {
  ws.write("../team/api.md", "x");
  ws.write("../single/one.md", "x");
  const extraPaths = [join(ws.folder, "team"), join(ws.folder, "single/one.md")];
  const changed = ["../team/api.md", "../team/p.png", "../single/one.md", "../single/other.md"];
  const { found, listed } = await both(changed, () => changed.map((path) => ws.write(path, "other")), extraPaths);
  expect(found?.files.map(({ path }) => path)).toEqual(["../team/api.md", "../team/p.png", "../single/one.md"]);
  expect(found?.files).toEqual(listed.sort((a, b) => changed.indexOf(a.path) - changed.indexOf(b.path)));
});

test.each<[string, string[], () => void]>([
  ["a folder with the name of a note came", ["memory/x.md"], () => mkdirSync(ws.path("memory/x.md"))],
  ["the folder is gone", ["memory/sub/b.md"], () => rmSync(ws.path("memory/sub"), { recursive: true })],
  [
    "another folder stands in the place of the folder",
    ["memory/sub/b.md"],
    () => {
      renameSync(ws.path("memory/sub"), ws.path("old"));
      ws.write("memory/sub/b.md", "b");
    },
  ],
  [
    "a symlink stands in the place of the folder",
    ["memory/sub/secret.md"],
    () => {
      rmSync(ws.path("memory/sub"), { recursive: true });
      symlinkSync(ws.path("elsewhere"), ws.path("memory/sub"));
    },
  ],
  [
    "a symlink stands on the way to the folder",
    ["memory/sub/b.md"],
    () => {
      renameSync(ws.path("memory"), ws.path("moved"));
      symlinkSync(ws.path("moved"), ws.path("memory"));
    },
  ],
])("when %s, only the whole listing can tell", async (_, changed, change) => {
  expect((await both(changed, change)).found).toBeUndefined();
});

test("a folder with the name of a note that was read and is gone takes the whole listing", async () => {
  ws.write("memory/old.md/x.md", "x");
  const { found } = await both(["memory/old.md"], () => rmSync(ws.path("memory/old.md"), { recursive: true }));
  expect(found).toBeUndefined();
});

test("a file with two names takes the whole listing, by either of them", async () => {
  symlinkSync(ws.folder, `${ws.folder}-link`);
  const other = join(`${ws.folder}-link`, "workspace/memory/a.md");
  const change = () => ws.write("memory/a.md", "other");
  expect((await both(["memory/a.md"], change, [other])).found).toBeUndefined();
  const byOther = join("../..", `${ws.folder.split("/").at(-1)}-link/workspace/memory/a.md`);
  expect((await both([byOther], change, [other])).found).toBeUndefined();
  rmSync(`${ws.folder}-link`);
});
