import { isSvcError } from "svc/sdk";
import { partsBelow } from "svc/sdk/internal";
import { memoryErrors } from "../errors.ts";
import { blockOf, changeDreams, entriesOf, readDreams, withBlock } from "./dreams-file.ts";
import { type GroundedEntry, groundedEntry, groundedText, type HistoricalNote, isBackfillEntry } from "./grounded.ts";
import { loadState, saveState } from "./load-state.ts";
import { withDreamLock } from "./lock.ts";
import { claimHash } from "./recall-entry.ts";
import { dailyNotes, readText } from "./state-files.ts";
import type { DreamPlace } from "./sweep.ts";

const CANDIDATE_SCORE = 0.62;
const LASTING_SCORE = 0.78;
const MAX_NOTE_BYTES = 512 * 1024;
/** Notes of one backfill, the newest. */
const MAX_NOTES = 400;

export interface BackfillContext {
  signal: AbortSignal;
  now: number;
}

/** Historical notes below a path of the workspace: one note, or those of a folder, oldest first. @throws {SvcError} `dream-notes-missing`, `unsafe-file` */
export async function historicalNotes(workspace: string, path: string): Promise<HistoricalNote[]> {
  const parts = partsBelow(workspace, path);
  const single = /^(\d{4}-\d{2}-\d{2})\.md$/.exec(parts.at(-1) ?? "")?.[0];
  const names = single === undefined ? await dailyNotes(workspace, parts) : [single];
  const folder = single === undefined ? parts : parts.slice(0, -1);
  const notes: HistoricalNote[] = [];
  for (const name of names.slice(-MAX_NOTES)) {
    const text = await readText(workspace, [...folder, name], MAX_NOTE_BYTES).catch((error: unknown) => {
      // A note that is a link, or too long, is left out; the others are read.
      if (isSvcError(error, "unsafe-file")) return undefined;
      throw error;
    });
    if (text !== undefined) notes.push({ path: [...folder, name].join("/"), day: name.slice(0, 10), text });
  }
  if (notes.length === 0) throw memoryErrors.dreamNotesMissing({ path: parts.join("/") || "." });
  return notes;
}

/** Entries of historical notes that say anything. */
export function groundedEntries(notes: readonly HistoricalNote[]): GroundedEntry[] {
  return notes.map(groundedEntry).filter(({ happened }) => happened.length > 0);
}

/** Writes historical notes into the diary, each in place of an earlier entry of it; with `stage` their candidates into the short-term memory as well. */
export async function backfill(
  place: DreamPlace,
  { path, stage }: { path: string; stage: boolean },
  context: BackfillContext,
): Promise<{ entries: number; staged: number }> {
  const { workspace } = place;
  const entries = groundedEntries(await historicalNotes(workspace, path));
  const staged = stage ? await stageCandidates(workspace, entries, context) : 0;
  await changeDreams(workspace, (text) => withBackfill(text, entries));
  return { entries: entries.length, staged };
}

/** The diary with these entries, in the order of their days before the sweeps' own. Pure. */
export function withBackfill(text: string, entries: readonly GroundedEntry[]): string {
  const present = entriesOf(blockOf(text, "diary") ?? "").map((entry) => entry.trim());
  const replaced = new Set(entries.map(headOf));
  const kept = present.filter((entry) => !replaced.has(entry.slice(0, entry.indexOf("-->") + 3)));
  const filled = [...kept.filter(isBackfillEntry), ...entries.map((entry) => groundedText(entry).trim())].sort();
  return withDiary(text, [...filled, ...kept.filter((entry) => !isBackfillEntry(entry))]);
}

function headOf(entry: GroundedEntry): string {
  const text = groundedText(entry);
  return text.slice(0, text.indexOf("-->") + 3);
}

function withDiary(text: string, entries: readonly string[]): string {
  return withBlock(text, "diary", entries.map((entry) => `---\n\n${entry}`).join("\n\n"));
}

/** Takes every entry of a backfill out of the diary, and nothing else. */
export async function rollbackDiary({ workspace }: DreamPlace): Promise<{ removed: number }> {
  let removed = 0;
  const before = await readDreams(workspace);
  if (before === undefined || !entriesOf(blockOf(before, "diary") ?? "").some(isBackfillEntry)) return { removed };
  await changeDreams(workspace, (text) => {
    // By its own bytes, so that what people wrote between the entries stays as it is.
    const [head = "", ...pieces] = (blockOf(text, "diary") ?? "").split(/^---$/m);
    const kept = pieces.filter((piece) => !isBackfillEntry(piece));
    removed = pieces.length - kept.length;
    return withBlock(text, "diary", [head, ...kept.map((piece) => `---${piece}`)].join(""));
  });
  return { removed };
}

async function stageCandidates(workspace: string, entries: readonly GroundedEntry[], { signal, now }: BackfillContext): Promise<number> {
  return withDreamLock(workspace, { signal }, async () => {
    const state = await loadState(workspace);
    let staged = 0;
    for (const { day, path, candidates, lasting } of entries) {
      const strong = new Set(lasting.map(({ text }) => claimHash(text)));
      for (const { snippet } of candidates) {
        if (!snippet) continue;
        const score = strong.has(claimHash(snippet.text)) ? LASTING_SCORE : CANDIDATE_SCORE;
        const place = { path, startLine: snippet.startLine, endLine: snippet.endLine, snippet: snippet.text };
        // The day is that of the note: staging the same note again counts nothing.
        const added = state.recall.add({
          ...place,
          kind: "grounded",
          score,
          query: `__dreaming_grounded__:${day}`,
          at: now,
          day,
          isOncePerDay: true,
        });
        if (added) staged += 1;
      }
    }
    if (staged > 0) await saveState(workspace, state, now);
    return staged;
  });
}

/** Removes statements that only a backfill has staged; those that a search or a sweep has found as well stay. */
export async function rollbackStaged({ workspace }: DreamPlace, { signal, now }: BackfillContext): Promise<{ removed: number }> {
  return withDreamLock(workspace, { signal }, async () => {
    const state = await loadState(workspace);
    const gone = state.recall.entries.filter(
      ({ groundedCount, recallCount, dailyCount }) => groundedCount > 0 && recallCount + dailyCount === 0,
    );
    for (const { key } of gone) state.recall.delete(key);
    if (gone.length > 0) await saveState(workspace, state, now);
    return { removed: gone.length };
  });
}
