import { statSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createTestWorkspace, type TestWorkspace } from "../test-workspace.ts";
import type { ThreadActivity } from "../thread-activity.ts";
import { createDocumentGuard, type DocumentGuard } from "./document-guard.ts";
import { stampOf } from "./file-documents.ts";
import { createPacer } from "./pacer.ts";
import type { SearchParams } from "./search-types.ts";
import { scanTexts } from "./text-scan.ts";

const plain: SearchParams = {
  query: "",
  maxResults: 6,
  minScore: 0.35,
  explicit: false,
  sources: ["memory"],
  candidateMultiplier: 4,
  maxSnippetChars: 700,
  hybrid: { enabled: true, vectorWeight: 0.7, textWeight: 0.3 },
  mmr: { enabled: false, lambda: 0.7 },
  temporalDecay: { enabled: false, halfLifeDays: 30 },
};

let ws: TestWorkspace;
beforeEach(() => {
  ws = createTestWorkspace({
    "MEMORY.md": "# Home\n\nThe Router stands in the hall cupboard.\n",
    "memory/heating.md": "The boiler is serviced each autumn.\n\nIts valve is below the stairs, not near the router.\n",
    "memory/zürich.md": "Rechnung aus Zürich",
    "memory/zh.md": "今天天气很好，我们去北京开会。",
    "memory/picture.png": "router",
    "notes.md": "router outside of the memory",
  });
});
afterEach(() => ws.remove());

function scan(query: string, over: Partial<SearchParams> & { timeoutMs?: number; guard?: DocumentGuard } = {}) {
  const { timeoutMs = 60_000, guard = createDocumentGuard(), ...params } = over;
  const pacer = createPacer(new AbortController().signal);
  return scanTexts({ settings: ws.settings, pacer, guard, deadlineMs: performance.now() + timeoutMs }, { ...plain, ...params, query });
}
const paths = async (query: string, over: Partial<SearchParams> = {}) => (await scan(query, over)).hits.map((hit) => hit.path);

test("a question is answered from the files, with lines and a snippet", async () => {
  const { hits, isComplete } = await scan("Where does the router stand in the hall?");
  expect(isComplete).toBe(true);
  expect(hits[0]).toEqual({
    path: "MEMORY.md",
    startLine: 1,
    endLine: 3,
    score: expect.any(Number),
    textScore: expect.any(Number),
    snippet: "# Home\n\nThe Router stands in the hall cupboard.",
    source: "memory",
  });
});

test("a note that stopped the index before is left out, and the thread says which one it reads", async () => {
  const { mtimeMs, size } = statSync(ws.path("MEMORY.md"));
  const read: string[] = [];
  const activity: ThreadActivity = {
    beat: () => undefined,
    during({ path }, work) {
      read.push(path);
      return work();
    },
  };
  const quarantined = [{ path: "MEMORY.md", stamp: stampOf({ mtimeMs: Math.floor(mtimeMs), size }) }];
  const { hits } = await scan("router", { guard: createDocumentGuard({ activity, quarantined }) });

  expect(hits.map((hit) => hit.path)).toEqual(["memory/heating.md"]);
  expect(read).toContain("memory/heating.md");
  expect(read).not.toContain("MEMORY.md");
});

describe("words", () => {
  test("that are all there come before some of them", async () => {
    expect(await paths("router valve boiler")).toEqual(["memory/heating.md"]);
    expect(await paths("router valve boiler", { minScore: 0 })).toEqual(["memory/heating.md", "MEMORY.md"]);
  });
  test("are whole words", async () => expect(await paths("out")).toEqual([]));
  test("are compared without accents and case", async () => expect(await paths("ZURICH rechnung")).toEqual(["memory/zürich.md"]));
  test("of scripts without spaces are found inside a run", async () => expect((await paths("北京"))[0]).toBe("memory/zh.md"));
  test("that no file has find nothing", async () => expect(await paths("submarine")).toEqual([]));
  test("that are none find nothing", async () => expect(await paths("?! …")).toEqual([]));
});

test("limits of the question hold", async () => {
  expect(await paths("router", { maxResults: 1 })).toHaveLength(1);
  expect(await paths("router hall garlic onions", { explicit: true, minScore: 0.9 })).toEqual([]);
  expect(await paths("router", { sources: ["sessions"] })).toEqual([]);
});

test("when time is up, the answer is what was read so far, and says so", async () => {
  expect(await scan("router", { timeoutMs: -1 })).toEqual({ hits: [], isComplete: false });
});
