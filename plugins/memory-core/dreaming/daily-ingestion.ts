import { setImmediate as nextTurn } from "node:timers/promises";
import { isRecord } from "svc/sdk";
import { dayOfNote, daysBetween } from "./days.ts";
import type { RecallStore } from "./recall-store.ts";
import { snippetsOf } from "./snippets.ts";
import { dailyNotes, fileStamp, readState, readText, writeState } from "./state-files.ts";

/** Score of a statement that was read, not searched for. */
const DAILY_SCORE = 0.62;
const MAX_NOTE_BYTES = 512 * 1024;
/** Files whose size and time are remembered: those that a sweep may still look at. */
const MAX_FILES = 400;

export interface DailyIngestion {
  workspace: string;
  recall: RecallStore;
  now: number;
  today: string;
  lookbackDays: number;
  /** Entries that the phase looks at; `max(20, 4 limit)` statements are read at most. */
  limit: number;
}

/** Statements of the daily notes that changed, and what to store once the statements are. */
export interface DailyResult {
  files: number;
  snippets: number;
  commit(): Promise<void>;
}

/** Reads daily notes that have changed since the last sweep. One that cannot be read is left out. */
export async function ingestDaily({ workspace, recall, now, today, lookbackDays, limit }: DailyIngestion): Promise<DailyResult> {
  const known = stampsOf(await readState(workspace, "daily-ingestion"));
  let left = Math.max(20, limit * 4);
  const result = { files: 0, snippets: 0 };
  for (const name of (await dailyNotes(workspace)).reverse()) {
    const path = `memory/${name}`;
    const day = dayOfNote(path);
    const age = day === undefined ? -1 : daysBetween(day, today);
    // A day ahead is today where the clock of the writer stands.
    if (day === undefined || age > lookbackDays || age < -1 || left <= 0) continue;
    const stamp = await fileStamp(workspace, ["memory", name]);
    const before = known.get(path);
    if (!stamp || (before?.mtimeMs === stamp.mtimeMs && before.size === stamp.size)) continue;
    const text = await readText(workspace, ["memory", name], MAX_NOTE_BYTES).catch(() => undefined);
    const snippets = text === undefined ? [] : snippetsOf(text);
    for (const { startLine, endLine, text: snippet, isUntrusted } of snippets.slice(0, left)) {
      const place = { path, startLine, endLine, snippet, isUntrusted };
      const added = recall.add({
        ...place,
        kind: "daily",
        score: DAILY_SCORE,
        query: `__dreaming_daily__:${day}`,
        at: now,
        day: today,
        isOncePerDay: true,
      });
      if (added) result.snippets += 1;
    }
    // A note that was only begun is read again.
    if (snippets.length <= left) known.set(path, stamp);
    left -= Math.min(left, snippets.length);
    result.files += 1;
    await nextTurn();
  }
  return {
    ...result,
    commit: () => writeState(workspace, "daily-ingestion", { version: 1, files: Object.fromEntries(newestFiles(known)) }),
  };
}

type Stamps = Map<string, { mtimeMs: number; size: number }>;

function stampsOf(state: Record<string, unknown>): Stamps {
  const rows = Object.entries(isRecord(state.files) ? state.files : {});
  return new Map(
    rows.flatMap(([path, value]) => {
      if (!isRecord(value) || typeof value.mtimeMs !== "number" || typeof value.size !== "number") return [];
      return [[path, { mtimeMs: value.mtimeMs, size: value.size }] as const];
    }),
  );
}

function newestFiles(stamps: Stamps): Array<[string, { mtimeMs: number; size: number }]> {
  return [...stamps].sort(([a], [b]) => b.localeCompare(a)).slice(0, MAX_FILES);
}
