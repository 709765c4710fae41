import { execFileSync } from "node:child_process";
import { mkdirSync, renameSync, symlinkSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createTestWorkspace, type TestWorkspace } from "../test-workspace.ts";
import { decodeText, readForIndex, withRegularFile } from "./read-file.ts";

let ws: TestWorkspace;
beforeEach(() => {
  ws = createTestWorkspace({ "a.md": "alpha" });
});
afterEach(() => ws.remove());

test("a regular file is read with its hash", () => {
  expect(readForIndex(ws.path("a.md"), ws.path("a.md"))).toMatchObject({
    kind: "text",
    text: "alpha",
    size: 5,
    hash: expect.stringMatching(/^8ed3f6ad685b/),
  });
});

test("a FIFO, a folder and a symlink that took the place of a file are no file, and nothing waits", () => {
  execFileSync("mkfifo", [ws.path("pipe.md")]);
  mkdirSync(ws.path("folder.md"));
  symlinkSync(ws.path("a.md"), ws.path("link.md"));
  expect(withRegularFile(ws.path("pipe.md"), () => "read")).toBeUndefined();
  for (const name of ["pipe.md", "folder.md", "link.md", "missing.md", "a.md/b.md"])
    expect(readForIndex(ws.path(name), ws.path(name))).toEqual({ kind: "gone" });
});

test("a byte order mark is not part of the text", () => {
  expect(decodeText(Buffer.from("\ufeffalpha"))).toBe("alpha");
});

test("a file behind a folder that became a symlink after it was listed is not read", () => {
  ws.write("memory/sub/note.md", "mine");
  ws.write("../elsewhere/note.md", "somebody else's");
  const note = ws.path("memory/sub/note.md");
  expect(readForIndex(note, note)).toMatchObject({ kind: "text", text: "mine" });
  renameSync(ws.path("memory/sub"), ws.path("memory/away"));
  symlinkSync(ws.path("../elsewhere"), ws.path("memory/sub"));
  expect(() => readForIndex(note, note)).toThrow(expect.objectContaining({ code: "ESTALE" }));
});
