import { type MessageRow, messageOf } from "svc/sdk";
import { type Kit, runsOf } from "../kit.ts";
import type { Candidate } from "../models/choice.ts";
import { type CompactionDetails, cutOf, MAX_ALSO_KEPT, type ReadRows, sinceCompaction } from "../sessions/compaction.ts";
import { compactionRow, tellCompaction } from "../sessions/compaction-row.ts";
import { present } from "../sessions/find.ts";
import { readTranscript } from "../sessions/read-transcript.ts";
import { listOf, type Summary, summarise } from "../sessions/summarise.ts";
import { conversation } from "./conversation.ts";
import type { PromptMessage } from "./replay-to-model.ts";
import type { Run } from "./run.ts";
import { rowTokens, textTokens, tokensOfEach } from "./tokens.ts";
import { commitRun } from "./writes.ts";

/** Rows that stay at most, however short they are. */
const MAX_KEPT_ROWS = 200;
/** Newest results of tools that stay word for word. */
const KEPT_RESULTS = 3;

interface Compaction {
  candidate: Candidate;
  candidates: readonly Candidate[];
  reason: "threshold" | "overflow";
  /** Tokens of the newest messages that stay. */
  keep: number;
  /** Estimate of the whole request, and of the part of it that stays the same. */
  before: number;
  fixed: number;
  /** Called before anything is summed up, when something is. */
  beforehand?: () => Promise<void>;
}

/**
 * Puts a summary in the place of the older messages of a run's session, at any turn of the run: stored as one row, told in events, and in force from then on.
 * Nothing is deleted, and a summary that fails becomes a list of what was asked.
 * @returns the messages as they are now; undefined when nothing could go
 */
export async function compactRun(run: Run, kit: Kit, made: Compaction): Promise<PromptMessage[] | undefined> {
  const { reason } = made;
  if (run.heartbeat?.lightContext) return undefined;
  const read = sinceCompaction(await readTranscript(kit.store(), run.sessionId));
  const stays = staysFor(run, kit);
  const plan = await planOf(read, { keep: made.keep, stays });
  if (!plan) return undefined;
  kit.events.compaction(run, { phase: "start", reason });
  await made.beforehand?.();
  const session = { key: run.sessionKey, agentId: run.agent.id, sessionId: run.sessionId };
  tellCompaction(kit, session, { phase: "before", tokens: made.before });
  const { summary, warning } = await summaryFor(run, kit, { ...made, plan, earlier: read.summary });
  run.countAside(summary.usage, "summary");
  const tokensAfter = made.fixed + plan.keptTokens + textTokens(summary.text);
  const details = { ...plan.details, reason, tokensBefore: made.before, tokensAfter };
  await store(run, kit, { summary, details });
  tellCompaction(kit, session, { phase: "after", tokens: tokensAfter });
  const told = { tokensBefore: made.before, tokensAfter, ...(warning === undefined ? {} : { warning }) };
  kit.events.compaction(run, { phase: "end", reason, willRetry: reason === "overflow", ...told });
  return conversation(run, kit);
}

interface Plan {
  older: MessageRow[];
  keptTokens: number;
  details: Pick<CompactionDetails, "keptFrom" | "summary" | "alsoKept" | "clearedBefore">;
}

/** Rows that go and rows that stay; undefined when none can go. */
export async function planOf(
  { rows }: ReadRows,
  { keep, stays }: { keep: number; stays: (row: MessageRow) => boolean },
): Promise<Plan | undefined> {
  const least = Math.ceil(keep / MAX_KEPT_ROWS);
  const counted = await tokensOfEach(rows, rowTokens);
  const sizes = new Map(rows.map((row, i) => [row, counted[i] ?? 0]));
  const tokensOf = (row: MessageRow) => sizes.get(row) ?? 0;
  const cut = cutOf(rows, keep, (row) => Math.max(least, tokensOf(row)));
  const keptFrom = cut === undefined ? undefined : rows[cut]?.seq;
  if (cut === undefined || keptFrom === undefined) return undefined;
  const before = rows.slice(0, cut);
  const alsoKept = before.filter(stays).slice(-MAX_ALSO_KEPT);
  const kept = new Set(alsoKept);
  const older = before.filter((row) => !kept.has(row));
  if (older.length === 0) return undefined;
  const after = rows.slice(cut);
  const results = after.filter(({ role }) => role === "toolResult");
  const clearedBefore = results.length > KEPT_RESULTS ? results.at(-KEPT_RESULTS)?.seq : undefined;
  const isRead = (row: MessageRow) => clearedBefore === undefined || row.role !== "toolResult" || row.seq >= clearedBefore;
  return {
    older,
    keptTokens: [...alsoKept, ...after.filter(isRead)].reduce((sum, row) => sum + tokensOf(row), 0),
    details: {
      keptFrom,
      summary: true,
      ...(alsoKept.length === 0 ? {} : { alsoKept: alsoKept.map(({ seq }) => seq) }),
      ...(clearedBefore === undefined ? {} : { clearedBefore }),
    },
  };
}

/** Messages of people that stay although they are old: those of the turn at work, and those that wait for theirs. */
function staysFor(run: Run, kit: Kit): (row: MessageRow) => boolean {
  const asked = new Set([run, ...run.followers, ...runsOf(kit, run.sessionKey)].map(({ id }) => id));
  return ({ role, runId }) => role === "user" && runId !== undefined && asked.has(runId);
}

async function summaryFor(
  run: Run,
  kit: Kit,
  { plan, earlier, candidate, candidates }: Compaction & { plan: Plan; earlier: string | undefined },
): Promise<{ summary: Summary; warning?: string }> {
  const asked = { key: run.sessionKey, agentId: run.agent.id, sessionId: run.sessionId };
  const order = [candidate, ...candidates.filter((one) => one !== candidate)];
  try {
    return { summary: await summarise(kit, asked, { older: plan.older, before: earlier, candidates: order, signal: run.signal }) };
  } catch (error) {
    run.signal.throwIfAborted();
    const warning = `older messages are a list now, because their summary failed: ${messageOf(error)}`;
    kit.ctx.logger.warn(`run ${run.id}: ${warning}`);
    return { summary: listOf(plan.older, earlier), warning };
  }
}

async function store(run: Run, kit: Kit, { summary, details }: { summary: Summary; details: CompactionDetails }): Promise<void> {
  const row = compactionRow({ sessionId: run.sessionId, ts: kit.ctx.clock.now() }, summary, details);
  const session = { updatedAt: row.ts, ...(details.tokensAfter === undefined ? {} : { totalTokens: details.tokensAfter }) };
  const [stored] = await commitRun(run, kit, { messages: [row], session });
  const shown = await present(kit, run.sessionKey);
  if (!stored || shown?.sessionId !== run.sessionId) return;
  kit.events.message(shown, stored);
  kit.events.sessionChanged(shown, { reason: "compact" });
}
