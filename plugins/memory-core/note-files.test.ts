import { createHash } from "node:crypto";
import { linkSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { indexedSoon, readNote, writeNote } from "./note-files.ts";
import { createTestWorkspace, type TestWorkspace } from "./test-workspace.ts";

let workspace: TestWorkspace;
afterEach(() => workspace.remove());

const start = (files: Record<string, string> = {}) => {
  workspace = createTestWorkspace(files);
  return workspace.root;
};
const hashOf = (text: string) => createHash("sha256").update(text).digest("hex");
const text = (path: string) => readFileSync(workspace.path(path), "utf8");

test("a note is read whole with its hash, and one that is not there says so", async () => {
  const root = start({ "memory/people/ana.md": "\uFEFF# Ana\r\n" });
  const content = "\uFEFF# Ana\r\n";
  expect(await readNote(root, "memory/people/ana.md")).toEqual({
    ...{ path: "memory/people/ana.md", missing: false, content, hash: hashOf(content) },
    ...{ size: Buffer.byteLength(content), updatedAtMs: expect.any(Number) },
  });
  expect(await readNote(root, "memory/none/here.md")).toEqual({ path: "memory/none/here.md", missing: true });
  expect(await readNote(root, "MEMORY.md")).toEqual({ path: "MEMORY.md", missing: true });
});

test("a new note is made with the folders on its way, and only where there was none", async () => {
  const root = start();
  const written = await writeNote(root, { path: "memory/people/ana.md", content: "Ana", expectedHash: null });
  expect(written).toEqual({ path: "memory/people/ana.md", missing: false, size: 3, hash: hashOf("Ana") });
  expect(text("memory/people/ana.md")).toBe("Ana");
  const again = writeNote(root, { path: "memory/people/ana.md", content: "Bea", expectedHash: null });
  await expect(again).rejects.toMatchObject({ code: "memory-note-conflict", fields: { currentHash: hashOf("Ana") } });
  expect(text("memory/people/ana.md")).toBe("Ana");
});

test("a note that changed or went since it was read is not written over", async () => {
  const root = start({ "MEMORY.md": "one" });
  const { hash = null } = await readNote(root, "MEMORY.md");
  workspace.write("MEMORY.md", "two");
  await expect(writeNote(root, { path: "MEMORY.md", content: "mine", expectedHash: hash })).rejects.toMatchObject({
    code: "memory-note-conflict",
    fields: { type: "memory_note_conflict", currentHash: hashOf("two") },
  });
  expect(text("MEMORY.md")).toBe("two");
  const gone = writeNote(root, { path: "memory/gone.md", content: "mine", expectedHash: hash });
  await expect(gone).rejects.toMatchObject({ code: "memory-note-conflict", fields: { currentHash: null } });
});

test("of writers of one state at the same time one wins", async () => {
  const root = start({ "MEMORY.md": "one" });
  const write = (content: string) => writeNote(root, { path: "MEMORY.md", content, expectedHash: hashOf("one").toUpperCase() });
  const all = await Promise.allSettled(Array.from({ length: 8 }, (_, i) => write(`mine ${i}`)));
  expect(all.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
});

test("anything but a note is refused with what was expected", async () => {
  const root = start({ "AGENTS.md": "rules", "memory/a.txt": "x" });
  const wrong = [
    "AGENTS.md",
    "../MEMORY.md",
    "memory",
    "memory/a.txt",
    "memory/.hidden/a.md",
    "notes/a.md",
    "/etc/a.md",
    "memory/a\nb.md",
    ".",
  ];
  for (const path of wrong) {
    await expect(readNote(root, path), path).rejects.toMatchObject({ code: "memory-note-path" });
    await expect(writeNote(root, { path, content: "x", expectedHash: null }), path).rejects.toMatchObject({ code: "memory-note-path" });
  }
  expect(text("AGENTS.md")).toBe("rules");
});

test("a link, a second name, a folder, and bytes that are no text are left as they are", async () => {
  const root = start({ "memory/x.md": "x", "memory/folder.md/a.md": "a" });
  const outside = join(workspace.folder, "outside.md");
  writeFileSync(outside, "OUTSIDE");
  symlinkSync(outside, workspace.path("memory/link.md"));
  linkSync(outside, workspace.path("memory/hard.md"));
  writeFileSync(workspace.path("memory/bytes.md"), Buffer.from([0xff, 0xfe, 0x41]));
  writeFileSync(workspace.path("memory/long.md"), "x".repeat(1_048_577));
  const unusable = { code: "memory-note-unusable" };
  for (const name of ["link", "folder", "bytes", "long"])
    await expect(readNote(root, `memory/${name}.md`), name).rejects.toMatchObject(unusable);
  for (const name of ["link", "hard", "folder"]) {
    const write = writeNote(root, { path: `memory/${name}.md`, content: "mine", expectedHash: hashOf("OUTSIDE") });
    await expect(write, name).rejects.toMatchObject(unusable);
  }
  expect(readFileSync(outside, "utf8")).toBe("OUTSIDE");
});

test("an index that cannot be brought up to date is said, and a sync under way is followed by another one", async () => {
  start();
  const { signal } = new AbortController();
  const syncs: string[] = [];
  const host = { workspaceOf: () => workspace.root, sync: async (agentId: string) => ({ joined: syncs.push(agentId) === 1 }) };
  expect(await indexedSoon(host, { agentId: "main", signal })).toBe(true);
  expect(syncs).toEqual(["main", "main"]);
  const down = { ...host, sync: () => Promise.reject(new Error("down")) };
  expect(await indexedSoon(down, { agentId: "main", signal })).toBe(false);
});
