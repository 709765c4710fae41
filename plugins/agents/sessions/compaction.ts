import type { MessageRow } from "svc/sdk";
import { textOf } from "../runs/transcript.ts";

/** `kind` of the transcript row behind which models read no older rows than `details.keptFrom`. */
export const COMPACTION_KIND = "compaction";

/** The rows that a model reads since the transcript was last made shorter, and what it reads in the place of the others. */
export function sinceCompaction(rows: readonly MessageRow[]): { rows: MessageRow[]; summary: string | undefined } {
  const last = rows.findLast((row) => row.kind === COMPACTION_KIND);
  const others = rows.filter((row) => row.kind !== COMPACTION_KIND);
  if (!last) return { rows: others, summary: undefined };
  const { keptFrom, summary } = detailsOf(last);
  return {
    rows: others.filter((row) => row.seq >= keptFrom),
    summary: summary ? `[Summary of the conversation so far]\n${textOf(last.content)}` : undefined,
  };
}

function detailsOf({ seq, details }: MessageRow): { keptFrom: number; summary: boolean } {
  const given = typeof details === "object" && details !== null ? (details as { keptFrom?: unknown; summary?: unknown }) : {};
  return { keptFrom: typeof given.keptFrom === "number" ? given.keptFrom : seq + 1, summary: given.summary === true };
}
