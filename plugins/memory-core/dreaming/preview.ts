import { groundedEntries, historicalNotes } from "./backfill.ts";
import { dayOf } from "./days.ts";
import { rankDeep, SWEEP_THRESHOLDS } from "./deep.ts";
import { groundedText } from "./grounded.ts";
import { loadState } from "./load-state.ts";
import { plainNarrative } from "./narrative.ts";
import { RecallStore } from "./recall-store.ts";
import { remStage } from "./rem.ts";
import { snippetsOf } from "./snippets.ts";
import type { DreamPlace } from "./sweep.ts";

/** Findings of a sweep that writes nothing. */
export interface Preview {
  entries: number;
  themes: Array<{ tag: string; count: number; strength: number }>;
  truths: Array<{ snippet: string; confidence: number; source: string }>;
  /** Statements that would be promoted. */
  promotions: Array<{ snippet: string; score: number; source: string }>;
  narrative: string;
  /** Entries that a backfill would write. */
  grounded?: string[];
}

const MAX_GROUNDED = 50;

/** Runs the phases over the stored statements, or over the notes below a path alone, and changes nothing. @throws {SvcError} `dream-notes-missing`, `unsafe-file` */
export async function preview(
  { workspace, agentIds }: DreamPlace,
  { path, grounded, now, timeZone }: { path?: string | undefined; grounded: boolean; now: number; timeZone?: string | undefined },
): Promise<Preview> {
  const state = await loadState(workspace);
  const notes = path === undefined && !grounded ? [] : await historicalNotes(workspace, path ?? "memory");
  const recall = path === undefined ? state.recall : storeOf(notes, now);
  const { themes, truths } = remStage(recall.entries, now);
  const ranked = rankDeep(recall.entries, { phases: state.phases, now, thresholds: SWEEP_THRESHOLDS }).filter(
    ({ blockedBy }) => blockedBy.length === 0,
  );
  const promotions = ranked.slice(0, SWEEP_THRESHOLDS.limit);
  const sourceOf = ({ path: file, startLine, endLine }: { path: string; startLine: number; endLine: number }) =>
    `${file}:${startLine}-${endLine}`;
  const material = {
    day: dayOf(now, timeZone),
    agentId: agentIds[0] ?? "main",
    snippets: recall.entries
      .filter(({ promotedAt }) => promotedAt === undefined)
      .map(({ snippet }) => snippet)
      .slice(0, 12),
    themes: themes.map(({ tag }) => tag),
    truths: truths.map(({ entry }) => entry.snippet),
    promotions: promotions.map(({ entry }) => entry.snippet),
  };
  return {
    entries: recall.size,
    themes,
    truths: truths.map(({ entry, confidence }) => ({ snippet: entry.snippet, confidence, source: sourceOf(entry) })),
    promotions: promotions.map(({ entry, score }) => ({ snippet: entry.snippet, score, source: sourceOf(entry) })),
    narrative: plainNarrative(material),
    ...(grounded ? { grounded: groundedEntries(notes).slice(-MAX_GROUNDED).map(groundedText) } : {}),
  };
}

/** Statements of notes as if a sweep had just read them. */
function storeOf(notes: readonly { path: string; day: string; text: string }[], now: number): RecallStore {
  const store = new RecallStore();
  for (const { path, day, text } of notes)
    for (const { startLine, endLine, text: snippet, isUntrusted } of snippetsOf(text))
      store.add({
        kind: "daily",
        path,
        startLine,
        endLine,
        snippet,
        isUntrusted,
        score: 0.62,
        query: `__dreaming_daily__:${day}`,
        at: now,
        day,
      });
  return store;
}
