import { expect, test } from "vitest";
import { noon, testNotes } from "../../../test/fixtures/dreams.ts";
import { backfill, rollbackDiary, rollbackStaged } from "./backfill.ts";
import { withDiaryEntry } from "./dreams-file.ts";
import { loadState } from "./load-state.ts";
import { preview } from "./preview.ts";
import { recordSearches } from "./recall-recorder.ts";

const signal = new AbortController().signal;
const context = { signal, now: noon("2026-04-10") };
const files = {
  "memory/2025-01-02.md":
    "# 2025-01-02\n\n- Nora always prefers green tea to coffee\n- The boiler made noise\n- Ana came to look at the boiler\n",
  "memory/2025-01-05.md": "- It rained the whole day\n",
  "memory/people.md": "- not a daily note\n",
  "DREAMS.md": withDiaryEntry("# Dreams\n\nMine.\n", { day: "2026-04-01", prose: "My own night." }),
};

test("historical notes become entries with their lines; again they replace themselves, and a rollback leaves the file as it was", async () => {
  const notes = testNotes(files);
  const place = { workspace: notes.root, agentIds: ["main"] };
  expect(await backfill(place, { path: "memory", stage: false }, context)).toEqual({ entries: 2, staged: 0 });
  const first = notes.read("DREAMS.md");
  for (const text of [
    "<!-- svc:dreaming:backfill-entry day=2025-01-02 source=memory/2025-01-02.md -->\n*2 January 2025*",
    "**What Happened**\n\n- Nora always prefers green tea to coffee [memory/2025-01-02.md:3]",
    "**Reflections**\n\n- “boiler” came up 2 times. [memory/2025-01-02.md:4, memory/2025-01-02.md:5]",
    "**Candidates**\n\n- Nora always prefers green tea to coffee [memory/2025-01-02.md:3]",
    "**Possible Lasting Updates**\n\n- Nora always prefers",
    "My own night.",
    "Mine.",
  ])
    expect(first).toContain(text);
  await backfill(place, { path: "memory/2025-01-02.md", stage: false }, context);
  expect(notes.read("DREAMS.md")).toBe(first);
  expect(await rollbackDiary(place)).toEqual({ removed: 2 });
  expect(notes.read("DREAMS.md")).toBe(files["DREAMS.md"]);
  expect(await rollbackDiary(place)).toEqual({ removed: 0 });
});

test("staging counts a statement once, and its rollback spares what was found in another way", async () => {
  const notes = testNotes(files);
  const place = { workspace: notes.root, agentIds: ["main"] };
  const staged = async () => (await loadState(notes.root)).recall.entries;
  const { staged: count } = await backfill(place, { path: "memory", stage: true }, context);
  expect(count).toBeGreaterThan(0);
  expect(await backfill(place, { path: "memory", stage: true }, context)).toMatchObject({ staged: 0 });
  expect((await staged()).map(({ groundedCount }) => groundedCount)).toEqual(Array.from({ length: count }, () => 1));
  const hits = [{ path: "memory/2025-01-02.md", startLine: 3, endLine: 3, score: 0.8, snippet: "", source: "memory" as const }];
  await recordSearches(notes.root, [{ workspace: notes.root, query: "green tea", hits, at: context.now }], signal);
  expect(await rollbackStaged(place, context)).toEqual({ removed: count - 1 });
  expect(await staged()).toMatchObject([{ recallCount: 1, groundedCount: 1, startLine: 3 }]);
});

test("the harness shows what a sweep would find, and writes nothing", async () => {
  const notes = testNotes(files);
  const place = { workspace: notes.root, agentIds: ["main"] };
  const shown = await preview(place, { path: "memory", grounded: true, now: context.now });
  expect(shown).toMatchObject({
    entries: 4,
    promotions: [],
    grounded: [expect.stringContaining("2 January 2025"), expect.stringContaining("5 January 2025")],
  });
  expect(shown.themes).toContainEqual({ tag: "boiler", count: 2, strength: 1 });
  expect(shown.narrative).toContain("I");
  expect(notes.read("DREAMS.md")).toBe(files["DREAMS.md"]);
  expect((await loadState(notes.root)).recall.size).toBe(0);
});

test("a path without daily notes, and one that leads out of the workspace, are refused", async () => {
  const notes = testNotes(files);
  const place = { workspace: notes.root, agentIds: ["main"] };
  await expect(backfill(place, { path: "archive", stage: false }, context)).rejects.toMatchObject({ code: "dream-notes-missing" });
  await expect(backfill(place, { path: "../x", stage: false }, context)).rejects.toMatchObject({ code: "unsafe-file" });
});
