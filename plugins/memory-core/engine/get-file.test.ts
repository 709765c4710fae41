import { execFileSync } from "node:child_process";
import { mkdirSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createTestWorkspace, type TestWorkspace } from "../test-workspace.ts";
import { chunkLines, splitLines } from "./chunker.ts";
import { getMemoryFile, type LineRange, MAX_GET_BYTES } from "./get-file.ts";

let ws: TestWorkspace;
beforeEach(() => {
  ws = createTestWorkspace({
    "MEMORY.md": "curated\n",
    "memory/note.md": "one\ntwo\nthree\n",
    "memory/sub/deep.md": "deep\n",
    "AGENTS.md": "rules\n",
    "memoryX/x.md": "x\n",
    "MEMORY.md.bak": "old\n",
    "memory/plain.txt": "text\n",
    "../secrets.md": "secret\n",
    "../team/api.md": "api\n",
  });
});
afterEach(() => ws.remove());

const get = (path: string, range: LineRange = {}, extraPaths: string[] = []) =>
  getMemoryFile({ workspace: ws.root, extraPaths }, path, range);
const text = (path: string, extraPaths: string[] = []) => {
  const found = get(path, {}, extraPaths);
  return found.kind === "text" ? found.text : found.kind;
};

describe("may be read", () => {
  test("curated notes, the diary, and what is below memory/", () => {
    ws.write("DREAMS.md", "dream\n");
    expect([text("MEMORY.md"), text("DREAMS.md"), text("memory/note.md"), text("memory/sub/deep.md")]).toEqual([
      "curated",
      "dream",
      "one\ntwo\nthree",
      "deep",
    ]);
  });

  test("an extra file or folder, by the path a hit carries", () => {
    const team = join(ws.folder, "team");
    expect(text("../team/api.md", [team])).toBe("api");
    expect(text("../team/api.md", [join(team, "api.md")])).toBe("api");
    expect(text(join(team, "api.md"), [team])).toBe("api");
  });

  test("a file in a workspace that is itself behind a symlink", () => {
    symlinkSync(ws.root, join(ws.folder, "linked"));
    expect(getMemoryFile({ workspace: join(ws.folder, "linked"), extraPaths: [] }, "memory/sub/deep.md", {})).toMatchObject({
      kind: "text",
      text: "deep",
    });
  });

  test("a missing file, which has no text", () => {
    expect(get("memory/none.md").kind).toBe("missing");
    expect(get("memory/none/none.md").kind).toBe("missing");
    expect(get("memory.md").kind).toBe("missing");
  });
});

describe("is refused", () => {
  test.each([
    "",
    "memory.md/../../secrets.md",
    "memory/../../secrets.md",
    "../secrets.md",
    "/etc/passwd",
    "/etc/hosts.md",
    "memory/../MEMORY.md.bak",
    "MEMORY.md.bak",
    "memoryX/x.md",
    "memory/../memoryX/x.md",
    "AGENTS.md",
    "memory/../AGENTS.md",
    "memory/plain.txt",
    "memory",
    "memory/",
    "sessions/abc.md",
    "MEMORY.md\0.md",
    "memory/note.md\0",
    "~/x.md",
    "../team/api.md",
    "..\\secrets.md",
    `memory/${"x".repeat(5_000)}.md`,
  ])("$0", (path) => expect(get(path).kind).toBe("refused"));

  test("a path outside given absolutely", () => expect(get(join(ws.folder, "secrets.md")).kind).toBe("refused"));

  test("a symlink, a file below a symlinked folder, and memory/ behind a symlink", () => {
    symlinkSync(join(ws.folder, "secrets.md"), ws.path("memory/link.md"));
    symlinkSync(join(ws.folder, "team"), ws.path("memory/folder"));
    expect([get("memory/link.md").kind, get("memory/folder/api.md").kind]).toEqual(["refused", "refused"]);

    renameSync(ws.path("memory"), ws.path("moved"));
    symlinkSync(ws.path("moved"), ws.path("memory"));
    expect(get("memory/note.md").kind).toBe("refused");
  });

  test("an extra path that is a symlink, and one reached through a symlink inside it", () => {
    symlinkSync(join(ws.folder, "team"), join(ws.folder, "link"));
    expect(get("../link/api.md", {}, [join(ws.folder, "link")]).kind).toBe("refused");
    mkdirSync(join(ws.folder, "docs"));
    symlinkSync(join(ws.folder, "team"), join(ws.folder, "docs", "in"));
    expect(get("../docs/in/api.md", {}, [join(ws.folder, "docs")]).kind).toBe("refused");
  });

  test("a folder named like a note, and a FIFO, without waiting for a writer", () => {
    mkdirSync(ws.path("memory/folder.md"));
    execFileSync("mkfifo", [ws.path("memory/pipe.md")]);
    expect([get("memory/folder.md").kind, get("memory/pipe.md").kind]).toEqual(["refused", "refused"]);
  });
});

describe("lines", () => {
  test.each<[LineRange, string]>([
    [{ from: 2 }, "two\nthree"],
    [{ from: 2, lines: 1 }, "two"],
    [{ lines: 2 }, "one\ntwo"],
    [{ from: 3, lines: 99 }, "three"],
    [{ from: 9 }, ""],
  ])("%j are %j", (range, wanted) => {
    expect(get("memory/note.md", range)).toMatchObject({
      kind: "text",
      text: wanted,
      from: range.from ?? 1,
      totalLines: 3,
      truncated: false,
    });
  });

  test("more than 64 KiB is cut between two characters and marked", () => {
    ws.write("memory/big.md", `${"é".repeat(40_000)}\n`);
    const found = get("memory/big.md");
    expect(found).toMatchObject({ kind: "text", truncated: true });
    expect(found.kind === "text" && Buffer.byteLength(found.text)).toBe(MAX_GET_BYTES);
  });

  test("exactly 64 KiB is whole", () => {
    ws.write("memory/full.md", "x".repeat(MAX_GET_BYTES));
    expect(get("memory/full.md")).toMatchObject({ truncated: false });
    ws.write("memory/full.md", "x".repeat(MAX_GET_BYTES + 1));
    expect(get("memory/full.md")).toMatchObject({ truncated: true });
  });

  test("the lines of a chunk contain the chunk, whatever the line ends", () => {
    const source = "\ufeffone\r\ntwo\rthree\n\nfour 天气\r\n".repeat(30);
    ws.write("memory/ends.md", source);
    for (const chunk of chunkLines(splitLines(source.slice(1)), { tokens: 10, overlap: 3 })) {
      const found = get("memory/ends.md", { from: chunk.startLine, lines: chunk.endLine - chunk.startLine + 1 });
      expect(found.kind === "text" && found.text).toContain(chunk.text);
    }
  });
});

/** Puts a symlink in the place of a folder and the folder back, again and again. */
const swapper = `
const { renameSync } = require("node:fs");
const { workerData: at } = require("node:worker_threads");
for (;;) {
  renameSync(at + "/sub", at + "/away");
  renameSync(at + "/link", at + "/sub");
  renameSync(at + "/sub", at + "/link");
  renameSync(at + "/away", at + "/sub");
}`;

test("a folder that is swapped for a symlink and back all the time never lets a foreign file through", async () => {
  ws.write("../foreign/deep.md", "secret");
  symlinkSync(ws.path("../foreign"), ws.path("memory/link"));
  const swapping = new Worker(swapper, { eval: true, workerData: ws.path("memory") });
  const seen = new Set<string>();
  for (let i = 0; i < 20_000; i++) seen.add(text("memory/sub/deep.md"));
  await swapping.terminate();
  expect([...seen].filter((one) => !["deep", "deep\n", "missing", "refused"].includes(one))).toEqual([]);
  expect(seen).toContain("refused");
});
