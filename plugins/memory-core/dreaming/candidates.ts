import { memoryErrors } from "../errors.ts";
import { type Candidate, type DeepComponents, rankDeep, type Thresholds, variety } from "./deep.ts";
import { loadState } from "./load-state.ts";
import { withDreamLock } from "./lock.ts";
import { type Promotion, promote, type Skipped } from "./promote.ts";
import { signalCount } from "./recall-entry.ts";
import type { DreamPlace } from "./sweep.ts";

/** A candidate as clients and commands see it. */
export interface CandidateRow {
  key: string;
  path: string;
  startLine: number;
  endLine: number;
  snippet: string;
  score: number;
  components: DeepComponents;
  recallCount: number;
  dailyCount: number;
  groundedCount: number;
  signals: number;
  variety: number;
  days: string[];
  conceptTags: string[];
  lastRecalledAt: string;
  promotedAt?: string;
  blockedBy: string[];
}

export interface CandidateQuestion {
  thresholds: Thresholds;
  includePromoted?: boolean | undefined;
  /** Key, path or part of a statement. */
  selector?: string | undefined;
  now: number;
}

/** Rows of one answer. */
const MAX_ROWS = 200;

/** Candidates of a workspace, the best first, each with every part of its score. Nothing is changed. @throws {SvcError} `dream-selector` when nothing matches */
export async function listCandidates(
  { workspace }: DreamPlace,
  question: CandidateQuestion,
): Promise<{ candidates: CandidateRow[]; total: number }> {
  const { thresholds, now, selector } = question;
  const { recall, phases } = await loadState(workspace);
  const includePromoted = question.includePromoted || selector !== undefined;
  const ranked = rankDeep(recall.entries, { phases, now, thresholds, includePromoted });
  const chosen = selector === undefined ? ranked : matching(ranked, selector);
  if (selector !== undefined && chosen.length === 0) throw memoryErrors.dreamSelector({ selector });
  return { candidates: chosen.slice(0, Math.min(MAX_ROWS, thresholds.limit)).map(toRow), total: chosen.length };
}

function matching(ranked: readonly Candidate[], selector: string): Candidate[] {
  const exact = ranked.filter(({ entry }) => entry.key === selector);
  if (exact.length > 0) return exact;
  const wanted = selector.toLowerCase();
  return ranked.filter(
    ({ entry }) =>
      entry.path === selector ||
      `${entry.path}:${entry.startLine}` === selector ||
      entry.snippet.toLowerCase().includes(wanted) ||
      entry.key.startsWith(selector),
  );
}

function toRow({ entry, score, components, blockedBy }: Candidate): CandidateRow {
  const {
    key,
    path,
    startLine,
    endLine,
    snippet,
    recallCount,
    dailyCount,
    groundedCount,
    recallDays,
    conceptTags,
    lastRecalledAt,
    promotedAt,
  } = entry;
  return {
    key,
    path,
    startLine,
    endLine,
    snippet,
    score,
    components,
    recallCount,
    dailyCount,
    groundedCount,
    conceptTags,
    lastRecalledAt,
    blockedBy,
    signals: signalCount(entry),
    variety: variety(entry),
    days: recallDays,
    ...(promotedAt === undefined ? {} : { promotedAt }),
  };
}

/** Promotes what the thresholds let through, at once. @throws as `promote` and `withDreamLock` */
export async function promoteNow(
  { workspace }: DreamPlace,
  { thresholds, now, timeZone, signal }: { thresholds: Thresholds; now: number; timeZone?: string | undefined; signal: AbortSignal },
): Promise<{ applied: Promotion[]; skipped: Skipped[] }> {
  return withDreamLock(workspace, { signal }, async () => {
    const state = await loadState(workspace);
    const ranked = rankDeep(state.recall.entries, { phases: state.phases, now, thresholds });
    const good = ranked.filter(({ blockedBy }) => blockedBy.length === 0);
    return promote(state, good, { workspace, now, timeZone, limit: thresholds.limit });
  });
}
