import { isRecord, type MessageRow } from "svc/sdk";
import { textOf } from "../runs/transcript.ts";

/** `kind` of the transcript row behind which models read no older rows than `details.keptFrom`. */
export const COMPACTION_KIND = "compaction";

/** Text in the place of an older result of a tool. */
export const CLEARED = "[cleared]";
/** Messages before `keptFrom` that one row may name. */
export const MAX_ALSO_KEPT = 100;

/** Cause of a compaction: the prompt was about to be too long, its vendor refused it as too long, or a person asked. */
export type CompactionReason = "threshold" | "overflow" | "manual";

/** Details in the row of a compaction. */
export interface CompactionDetails {
  /** Sequence number of the first row that models go on to read. */
  keptFrom: number;
  /** The row's text stands for the rows before it. */
  summary: boolean;
  reason?: CompactionReason;
  tokensBefore?: number;
  tokensAfter?: number;
  /** Messages before `keptFrom` that stay: the question of the turn at work, and those that wait. */
  alsoKept?: number[];
  /** Results of tools before this row are read as `[cleared]`. */
  clearedBefore?: number;
}

/** Rows of a transcript that a model reads. */
export interface ReadRows {
  rows: MessageRow[];
  /** Text in the place of the others. */
  summary: string | undefined;
  /** Sequence number of the newest compaction; 0: there was none. */
  compactedAt: number;
}

/** The rows that a model reads since the transcript was last made shorter, and what it reads in the place of the others. */
export function sinceCompaction(rows: readonly MessageRow[]): ReadRows {
  const last = rows.findLast((row) => row.kind === COMPACTION_KIND);
  const others = rows.filter((row) => row.kind !== COMPACTION_KIND);
  if (!last) return { rows: others, summary: undefined, compactedAt: 0 };
  const { keptFrom, summary, alsoKept = [], clearedBefore = 0 } = compactionDetails(last);
  const kept = new Set(alsoKept);
  return {
    rows: others
      .filter(({ seq }) => seq >= keptFrom || kept.has(seq))
      .map((row) => (row.role === "toolResult" && row.seq < clearedBefore ? { ...row, content: [{ type: "text", text: CLEARED }] } : row)),
    summary: summary ? textOf(last.content) : undefined,
    compactedAt: last.seq,
  };
}

/** Line before a summary in a prompt. */
export const SUMMARY_HEAD = "[Summary of the conversation so far]";

/** The oldest row that is read, as far as the newest compaction among `rows` says; undefined when there is none. */
export function oldestRead(rows: readonly MessageRow[]): number | undefined {
  const last = rows.findLast((row) => row.kind === COMPACTION_KIND);
  if (!last) return undefined;
  const { keptFrom, alsoKept = [] } = compactionDetails(last);
  return Math.min(keptFrom, ...alsoKept);
}

function compactionDetails({ seq, details }: MessageRow): CompactionDetails {
  const given: Record<string, unknown> = isRecord(details) ? details : {};
  const { keptFrom, alsoKept, clearedBefore } = given;
  return {
    keptFrom: typeof keptFrom === "number" ? keptFrom : seq + 1,
    summary: given.summary === true,
    ...(Array.isArray(alsoKept) ? { alsoKept: alsoKept.filter((one) => typeof one === "number").slice(-MAX_ALSO_KEPT) } : {}),
    ...(typeof clearedBefore === "number" ? { clearedBefore } : {}),
  };
}

/**
 * Index of the first row that stays when the newest `keepTokens` do; undefined when nothing can go. Never between a call and its result: a batch of them that is
 * larger stays whole. Pure.
 */
export function cutOf(rows: readonly MessageRow[], keepTokens: number, tokensOf: (row: MessageRow) => number): number | undefined {
  const isAllowed = allowedCuts(rows);
  let from = rows.length;
  for (let left = keepTokens; from > 0; from--) {
    left -= tokensOf(rows[from - 1] as MessageRow);
    if (left < 0) break;
  }
  for (let i = from; i < rows.length; i++) if (isAllowed[i]) return i === 0 ? undefined : i;
  const last = isAllowed.lastIndexOf(true, from);
  return last <= 0 ? undefined : last;
}

/** For each row: does everything before it stand without what follows? */
function allowedCuts(rows: readonly MessageRow[]): boolean[] {
  const answered = new Set(rows.flatMap((row) => (row.role === "toolResult" && row.toolCallId !== undefined ? [row.toolCallId] : [])));
  const open = new Set<string>();
  return rows.map((row) => {
    const isAllowed = open.size === 0 && row.role !== "toolResult";
    if (row.role === "toolResult" && row.toolCallId !== undefined) open.delete(row.toolCallId);
    for (const block of row.content) if (block.type === "toolCall" && answered.has(block.id)) open.add(block.id);
    return isAllowed;
  });
}
