import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import Sqlite from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Collection } from "./collections.ts";
import { lookUpDocument } from "./document-lookup.ts";
import { interleave, placeOf, safePath, toMemoryHit } from "./locate.ts";
import type { EngineHit } from "./parse.ts";
import { readNote } from "./read-note.ts";
import { realRelativePath } from "./real-path.ts";
import { createTestState, type TestState } from "./test-sidecar.ts";

let state: TestState;
let collections: Collection[];
let outside: string;
beforeEach(() => {
  state = createTestState({ "MEMORY.md": "# Home\n", "memory/My Day (1).md": "one\ntwo\nthree\n", "secret.md": "no" });
  outside = join(state.stateDir, "team");
  put(join(outside, "a/Plan B.md"), "plan\n");
  put(join(state.stateDir, "said/s1.md"), "# Session s1\n");
  const of = (name: string, root: string, source: Collection["source"] = "memory"): Collection => ({
    ...{ name, root, source, pattern: "**/*.md" },
    ...{ isShared: false, isOwn: false },
  });
  collections = [of("notes", join(state.workspace, "memory")), of("team", outside), of("said", join(state.stateDir, "said"), "sessions")];
});
afterEach(() => state.dispose());

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

const hit = (over: Partial<EngineHit>): EngineHit => ({
  ...{ docid: undefined, score: 0.5, file: undefined, collection: undefined },
  ...{ line: undefined, startLine: undefined, endLine: undefined, snippet: "a 😀 b" },
  ...over,
});
const options = (maxSnippetChars = 700) => ({ workspace: state.workspace, collections, maxSnippetChars, lookUp: async () => undefined });
const pathOf = async (file: string) => (await toMemoryHit(hit({ file }), options()))?.path;

describe("the place of a hit", () => {
  test("is relative to the workspace, or below its collection", async () => {
    expect(await pathOf("qmd://notes/My Day (1).md")).toBe("memory/My Day (1).md");
    expect(await pathOf("qmd://team/a/Plan B.md")).toBe("sidecar/team/a/Plan B.md");
    expect(await toMemoryHit(hit({ file: "qmd://said/s1.md" }), options())).toMatchObject({
      path: "sidecar/said/s1.md",
      source: "sessions",
    });
    expect(placeOf({ file: "a.md", collection: "notes" })).toEqual({ collection: "notes", path: "a.md" });
  });

  test("is that of the real file where the engine has changed its name", async () => {
    expect(await pathOf("qmd://notes/my-day-1.md")).toBe("memory/My Day (1).md");
    expect(await pathOf("qmd://team/A/plan-b.md")).toBe("sidecar/team/a/Plan B.md");
    expect(await realRelativePath(outside, "gone/file.md")).toBe("gone/file.md");
  });

  test.each([
    "qmd://nobody/a.md",
    "qmd://team/../secret.md",
    "qmd://team//etc/passwd",
    "qmd://team/a/../../x.md",
    "a.md",
    "qmd://team/%2e%2e/x.md",
  ])("%s is none", async (file) => {
    expect(await pathOf(file)).toBeUndefined();
  });

  test("is found by the document's id where nothing else is told", async () => {
    const lookUp = async (docid: string) => (docid === "ff39e0" ? { collection: "notes", path: "my-day-1.md" } : undefined);
    expect(await toMemoryHit(hit({ docid: "#ff39e0" }), { ...options(), lookUp })).toMatchObject({ path: "memory/My Day (1).md" });
    expect(await toMemoryHit(hit({ docid: "#000000" }), { ...options(), lookUp })).toBeUndefined();
  });

  test("has a snippet that is cut between two characters", async () => {
    expect((await toMemoryHit(hit({ file: "qmd://team/x.md" }), options(3)))?.snippet).toBe("a ");
  });

  test("is a plain relative path", () => {
    expect(["a/b.md", "./a.md", "a/../b.md", "..", "", "/a", "a\\b", "a\0"].map(safePath)).toEqual([
      ...["a/b.md", "a.md", "b.md"],
      ...Array(5).fill(undefined),
    ]);
  });
});

test("the engine's own database tells the document of an id, and nothing when it is locked, odd or not there", async () => {
  const file = join(state.stateDir, "index.sqlite");
  expect(await lookUpDocument(file, "abcdef")).toBeUndefined();
  const database = new Sqlite(file);
  database.exec("CREATE TABLE documents(collection TEXT, path TEXT, hash TEXT, active INTEGER)");
  database.exec("INSERT INTO documents VALUES ('notes', 'a.md', 'abcdef99', 1), ('notes', 'old.md', '123456', 0)");
  expect(await lookUpDocument(file, "ABCDEF")).toEqual({ collection: "notes", path: "a.md" });
  expect(await lookUpDocument(file, "123456")).toBeUndefined();
  expect(await lookUpDocument(file, "%' OR 1=1")).toBeUndefined();
  database.exec("DROP TABLE documents");
  database.close();
  expect(await lookUpDocument(file, "abcdef")).toBeUndefined();
});

test("hits of both sources are taken in turn, that with the best one first", () => {
  const of = (source: string, ...scores: number[]) => scores.map((score) => ({ source, score }));
  const taken = interleave([...of("memory", 0.5, 0.4, 0.3), ...of("sessions", 0.9)]);
  expect(taken.map(({ source, score }) => `${source} ${score}`)).toEqual(["sessions 0.9", "memory 0.5", "memory 0.4", "memory 0.3"]);
});

describe("reading a note", () => {
  const read = (path: string, range = {}) => readNote({ workspace: state.workspace, collections }, path, range);

  test("of the workspace or of a collection, whole or some lines", async () => {
    expect(await read("memory/My Day (1).md")).toEqual({ path: "memory/My Day (1).md", text: "one\ntwo\nthree", from: 1, totalLines: 3 });
    expect(await read("memory/My Day (1).md", { from: 2, lines: 1 })).toMatchObject({ text: "two", from: 2, totalLines: 3 });
    expect(await read("sidecar/team/a/Plan B.md")).toMatchObject({ text: "plan" });
    expect(await read("MEMORY.md")).toMatchObject({ text: "# Home" });
  });

  test("that is not there says so", async () => {
    for (const path of ["memory/nowhere.md", "DREAMS.md", "sidecar/team/no.md"])
      await expect(read(path)).rejects.toMatchObject({ code: "memory-note-missing" });
  });

  test("refuses everything else, exported transcripts and links among it", async () => {
    symlinkSync(join(state.workspace, "secret.md"), join(outside, "link.md"));
    symlinkSync(state.workspace, join(outside, "folder"));
    const paths = [
      "secret.md",
      "../secret.md",
      "/etc/passwd",
      "memory/../secret.md",
      "sidecar/said/s1.md",
      "sidecar/team/../../workspace/secret.md",
    ];
    for (const path of [
      ...paths,
      "sidecar/nobody/a.md",
      "sidecar/team/link.md",
      "sidecar/team/folder/secret.md",
      "memory/a.txt",
      "",
      "memory/a\0.md",
    ])
      await expect(read(path), path).rejects.toMatchObject({ code: "sidecar-path-refused" });
  });

  test("is cut at 64 KiB", async () => {
    state.write("memory/long.md", "ä".repeat(50_000));
    const { text, truncated } = await read("memory/long.md");
    expect([text.length, truncated]).toEqual([32_768, true]);
  });
});
