import { agentSetting, type JsonObject, type SessionRow } from "svc/sdk";
import { type Kit, runsOf } from "../kit.ts";
import { splitRef } from "../models/choice.ts";
import { fromNanos } from "../models/cost.ts";

/** Facts that a row does not contain. */
export interface RowFacts {
  /** Runs that are not settled, in order of acceptance. */
  activeRunIds: readonly string[];
  now: number;
  /** Longest prompt of the model that would answer, in tokens. */
  contextTokens?: number | undefined;
}

/** The row as it goes over the wire. */
export function toWireSession({ costNanos, branch: _, ...row }: SessionRow, { activeRunIds, now, contextTokens }: RowFacts): JsonObject {
  const modelProvider = row.model === undefined ? undefined : splitRef(row.model)?.provider;
  const hasActiveRun = activeRunIds.length > 0;
  return {
    ...row,
    ...(costNanos === undefined ? {} : { cost: fromNanos(costNanos) }),
    ...(row.startedAt === undefined ? {} : { runtimeMs: Math.max(0, (row.endedAt ?? now) - row.startedAt) }),
    ...(modelProvider === undefined ? {} : { modelProvider }),
    ...(contextTokens === undefined ? {} : { contextTokens }),
    abortedLastRun: row.status === "killed" || row.status === "timeout",
    hasActiveRun,
    ...(hasActiveRun ? { activeRunIds: [...activeRunIds] } : {}),
    // A run at work has used tokens that nobody has counted yet.
    totalTokensFresh: !hasActiveRun,
    snapshotAt: now,
  };
}

/** The row with what this process knows of it now. */
export function wireSession(kit: Pick<Kit, "runs" | "ctx" | "config" | "directory" | "models" | "catalog">, row: SessionRow): JsonObject {
  return toWireSession(row, {
    activeRunIds: runsOf(kit, row.key).map((run) => run.id),
    now: kit.ctx.clock.now(),
    contextTokens: contextTokensOf(kit, row),
  });
}

/** Context window: the agent's setting, else that of its model, as far as it is known without a request. */
export function contextTokensOf(
  kit: Pick<Kit, "config" | "directory" | "models" | "catalog">,
  session: Pick<SessionRow, "agentId" | "model">,
): number | undefined {
  const agent = kit.directory.list().find((a) => a.id === session.agentId);
  if (!agent) return undefined;
  const set = agentSetting(kit.config, agent.id, "contextTokens");
  if (set !== undefined) return set;
  const ref = (session.model === undefined ? undefined : splitRef(session.model)) ?? kit.models.standard(agent);
  const provider = ref && kit.catalog.provider(ref.provider);
  return provider && kit.catalog.known(provider).find((m) => m.id === ref.model)?.contextWindow;
}
