import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { LeftOut } from "../plan/left-out.ts";
import { openSourceFolder, reasonOf, type SourceFolder } from "./folder.ts";
import { readSource } from "./source.ts";
import { openTranscript } from "./transcript.ts";

let root: string;
let folder: SourceFolder;
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), "svc-import-")));
  folder = openSourceFolder(join(root, "in"));
  await mkdir(folder.root);
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder.root, path)), { recursive: true });
  await writeFile(join(folder.root, path), text);
}

async function messagesOf(path: string) {
  const leftOut: LeftOut[] = [];
  const transcript = await openTranscript(folder, path, leftOut);
  const texts: unknown[] = [];
  if (transcript)
    for await (const { id, content } of transcript.messages("s")) texts.push([id, content[0]?.type === "text" && content[0].text]);
  return { texts, leftOut: [...leftOut, ...(transcript?.leftOut ?? [])] };
}

const line = (id: string, parentId: string | null, text: string) =>
  `${JSON.stringify({ type: "message", id, parentId, message: { role: "user", content: text } })}\n`;

test("nothing outside of the folder is opened: not by a link, a linked folder or a path with dots; nor a pipe, nor a file too large", async () => {
  await writeFile(join(root, "secret"), "s");
  await symlink(join(root, "secret"), join(folder.root, "link"));
  await symlink(root, join(folder.root, "up"));
  execFileSync("mkfifo", [join(folder.root, "pipe")]);
  await put("large", "12345");
  const refusal = (path: string) => folder.read(path, 4).then(() => "read", reasonOf);

  const reasons = [];
  for (const path of ["link", "up/secret", "../secret", "pipe", "large", "none"]) reasons.push(await refusal(path));

  expect(reasons).toEqual([
    "is a symbolic link",
    "leads outside of its folder",
    "leads outside of its folder",
    "not a regular file",
    "larger than 4 bytes",
    "there is no such file",
  ]);
  expect(await folder.list("")).toMatchObject({
    files: ["large"],
    folders: [],
    refused: expect.arrayContaining([{ name: "up", reason: "is a symbolic link" }]),
  });
});

test("lines are read one by one, across chunks, and a line that is too long is skipped without the ones around it", async () => {
  const wide = "x".repeat(300_000);
  await put("f", `a\n${wide}\nb\n\n${wide}y\nlast`);
  const lines = [];

  for await (const one of folder.lines("f", { maxBytes: 1_000_000, maxLineBytes: 300_000 }))
    lines.push("tooLong" in one ? one : [one.at, one.text.slice(0, 4)]);

  expect(lines).toEqual([[1, "a"], [2, "xxxx"], [3, "b"], [4, ""], { at: 5, tooLong: true }, [6, "last"]]);
});

test("of a tree of messages the branch in use is read; with a broken line in it, everything that can be", async () => {
  await put("tree.jsonl", line("a", null, "1") + line("b", "a", "left") + line("c", "a", "2") + line("d", "c", "3"));
  expect(await messagesOf("tree.jsonl")).toEqual({
    texts: [
      ["a", "1"],
      ["c", "2"],
      ["d", "3"],
    ],
    leftOut: [{ path: "tree.jsonl", reason: "1 lines stand in branches that the conversation left" }],
  });

  const deep = `${"[".repeat(100)}${"]".repeat(100)}`;
  await put("broken.jsonl", `${line("a", null, "1")}{oops\n${deep}\n[]\n${line("c", "b", "2")}${line("c", "c", "3")}`);
  const { texts, leftOut } = await messagesOf("broken.jsonl");
  expect(texts).toEqual([
    ["a", "1"],
    ["c", "2"],
    ["line-6", "3"],
  ]);
  expect(leftOut.map(({ path, reason }) => `${path} ${reason}`)).toEqual([
    "broken.jsonl:2 the line is not JSON",
    "broken.jsonl:3 the line is not JSON",
    "broken.jsonl:4 the line holds no object",
  ]);
});

test("a ring of parents ends, and so does a parent that is not there", async () => {
  await put("ring.jsonl", line("a", "b", "1") + line("b", "a", "2"));
  await put("cut.jsonl", line("b", "gone", "2") + line("c", "b", "3"));

  expect([(await messagesOf("ring.jsonl")).texts.length, (await messagesOf("cut.jsonl")).texts.length]).toEqual([2, 2]);
});

test("a folder is known by its shape alone; the config is the file with the most known sections", async () => {
  expect(await readSource(folder, JSON.parse)).toBeUndefined();
  await put("package.json", JSON.stringify({ name: "x", channels: {} }));
  await put("AGENTS.md", "x");
  expect(await readSource(folder, JSON.parse)).toBeUndefined();
  await put("MEMORY.md", "x");
  expect(await readSource(folder, JSON.parse)).toMatchObject({ kind: "workspace" });
  await put("one.json", JSON.stringify({ agents: {}, channels: {} }));
  await put("two.json", JSON.stringify({ agents: {}, channels: {}, session: {} }));
  await put("agents/main/sessions/sessions.json", "{ broken");
  await put("agents/main/main.sqlite", "");

  const source = await readSource(folder, JSON.parse);

  expect(source).toMatchObject({ kind: "gateway", configName: "two.json", agentFolders: ["main"], sessions: [] });
  expect(source?.leftOut.map(({ path }) => path)).toEqual(["agents/main/main.sqlite", "agents/main/sessions/sessions.json"]);
});
