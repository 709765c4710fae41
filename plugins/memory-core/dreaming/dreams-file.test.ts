import { chmodSync, existsSync, statSync, symlinkSync } from "node:fs";
import { expect, test } from "vitest";
import { testNotes } from "../../../test/fixtures/dreams.ts";
import { blockOf, changeDreams, hasDiaryEntry, withBlock, withDiaryEntry } from "./dreams-file.ts";
import { appendEvents, lastEvent } from "./state-files.ts";

test("blocks are replaced in place, and what people wrote around them stays", () => {
  const once = withBlock(withDiaryEntry("# Dreams\n\nMy own words.\n", { day: "2026-04-01", prose: "First." }), "light", "- a");
  const twice = withBlock(once, "light", "- b");
  expect(twice).toBe(
    "# Dreams\n\n<!-- svc:dreaming:diary:start -->\n---\n\n*1 April 2026*\n\nFirst.\n<!-- svc:dreaming:diary:end -->\n\nMy own words.\n\n" +
      "## Light Sleep\n\n<!-- svc:dreaming:light:start -->\n- b\n<!-- svc:dreaming:light:end -->\n",
  );
  const next = withDiaryEntry(twice, { day: "2026-04-02", prose: "Second." });
  expect(blockOf(next, "diary")).toBe("\n---\n\n*1 April 2026*\n\nFirst.\n\n---\n\n*2 April 2026*\n\nSecond.\n");
  expect([hasDiaryEntry(next, "2026-04-02"), hasDiaryEntry(next, "2026-04-03")]).toEqual([true, false]);
});

test("a block whose end is missing is left as text, and a new one is made", () => {
  const text = withBlock("# Dreams\n<!-- svc:dreaming:deep:start -->\nkept\n", "deep", "new");
  expect(text).toContain("kept\n");
  expect(blockOf(text, "deep")).toBe("\nnew\n");
  expect(blockOf(withBlock(text, "deep", "newer"), "deep")).toBe("\nnewer\n");
});

test("a new file is private, an old one keeps its mode, and a dreams.md is used", async () => {
  const notes = testNotes();
  await changeDreams(notes.root, (text) => `${text}x\n`);
  expect(statSync(notes.path("DREAMS.md")).mode & 0o777).toBe(0o600);
  const lower = testNotes({ "dreams.md": "# Mine\n" });
  chmodSync(lower.path("dreams.md"), 0o640);
  await changeDreams(lower.root, (text) => `${text}x\n`);
  expect([lower.read("dreams.md"), statSync(lower.path("dreams.md")).mode & 0o777, existsSync(lower.path("DREAMS.md"))]).toEqual([
    "# Mine\nx\n",
    0o640,
    false,
  ]);
});

test("a file for people that is a link is not written through", async () => {
  const outside = testNotes({ "o.md": "OUTSIDE" });
  const notes = testNotes();
  symlinkSync(outside.path("o.md"), notes.path("DREAMS.md"));
  await expect(changeDreams(notes.root, () => "x")).rejects.toMatchObject({ code: "unsafe-file" });
  expect(outside.read("o.md")).toBe("OUTSIDE");
});

test("the event log keeps its newest part, whole lines, and tells of the last event of a kind", async () => {
  const notes = testNotes();
  const event = (i: number) => ({ type: "memory.recall.recorded" as const, at: new Date(i).toISOString(), note: "x".repeat(3_000), i });
  for (let i = 0; i < 4; i += 1)
    await appendEvents(
      notes.root,
      Array.from({ length: 30 }, (_, j) => event(i * 30 + j)),
    );
  const lines = notes.read("memory/.dreams/events.jsonl").trim().split("\n");
  expect(Buffer.byteLength(notes.read("memory/.dreams/events.jsonl"))).toBeLessThan(256 * 1024);
  expect(lines.map((line) => JSON.parse(line).i).at(-1)).toBe(119);
  expect(await lastEvent(notes.root, "memory.recall.recorded")).toMatchObject({ i: 119 });
  expect(await lastEvent(notes.root, "memory.dream.completed")).toBeUndefined();
});
