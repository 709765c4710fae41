import { backfill, rollbackDiary, rollbackStaged } from "./backfill.ts";
import { listCandidates, promoteNow } from "./candidates.ts";
import { MANUAL_THRESHOLDS, type Thresholds } from "./deep.ts";
import { preview } from "./preview.ts";
import { repair } from "./repair.ts";
import type { DreamPlace } from "./sweep.ts";

/** Thresholds as they are asked for; the rest is that of a manual promotion. */
export type AskedThresholds = { [K in keyof Omit<Thresholds, "maxAgeDays">]?: number | undefined };

/** Context of one operation. */
export interface OperationContext {
  now: number;
  timeZone?: string | undefined;
  signal: AbortSignal;
}

export function thresholdsOf(asked: AskedThresholds): Thresholds {
  const { limit, minScore, minRecallCount, minUniqueQueries } = MANUAL_THRESHOLDS;
  return {
    limit: asked.limit ?? limit,
    minScore: asked.minScore ?? minScore,
    minRecallCount: asked.minRecallCount ?? minRecallCount,
    minUniqueQueries: asked.minUniqueQueries ?? minUniqueQueries,
  };
}

/** Operations on the short-term memory of one workspace, for methods and commands alike. */
export const operations = {
  candidates: (
    place: DreamPlace,
    asked: AskedThresholds & { includePromoted?: boolean | undefined; selector?: string | undefined },
    { now }: OperationContext,
  ) => listCandidates(place, { thresholds: thresholdsOf(asked), includePromoted: asked.includePromoted, selector: asked.selector, now }),
  promote: (place: DreamPlace, asked: AskedThresholds, context: OperationContext) =>
    promoteNow(place, { ...context, thresholds: thresholdsOf(asked) }),
  preview: (
    place: DreamPlace,
    { path, grounded = false }: { path?: string | undefined; grounded?: boolean | undefined },
    { now, timeZone }: OperationContext,
  ) => preview(place, { path, grounded, now, timeZone }),
  async backfill(
    place: DreamPlace,
    { path = "memory", action }: { path?: string | undefined; action: "write" | "stage" | "rollback" | "rollback-staged" },
    context: OperationContext,
  ): Promise<{ entries?: number; staged?: number; removed?: number }> {
    if (action === "rollback") return rollbackDiary(place);
    if (action === "rollback-staged") return rollbackStaged(place, context);
    return backfill(place, { path, stage: action === "stage" }, context);
  },
  repair: async (place: DreamPlace, { signal }: OperationContext) => ({ done: await repair(place, { signal, nowMs: Date.now() }) }),
};
