import { type Logger, messageOf } from "svc/sdk";
import { reached } from "svc/sdk/internal";
import type { Conversations } from "./conversations.ts";
import { ingestDaily } from "./daily-ingestion.ts";
import { dayOf } from "./days.ts";
import { rankDeep, SWEEP_THRESHOLDS } from "./deep.ts";
import { type DiaryMaterial, writeDiary } from "./diary.ts";
import { changeDreams, deepSummary, lightSummary, remSummary, withBlock } from "./dreams-file.ts";
import { removeLeftovers } from "./leftovers.ts";
import { LIGHT, lightStage, type Staged } from "./light.ts";
import { loadState, saveState } from "./load-state.ts";
import { withDreamLock } from "./lock.ts";
import { countHits, type PhaseHits } from "./phase-signals.ts";
import { type Promotion, promote, type Skipped } from "./promote.ts";
import { REM, remStage, type Theme, type Truth } from "./rem.ts";
import { ingestSessions } from "./session-ingestion.ts";
import { appendEvents } from "./state-files.ts";

/** Means of a sweep. Time, conversations and the model come in from outside. */
export interface SweepDeps {
  now(): number;
  timeZone?: string | undefined;
  signal: AbortSignal;
  logger: Pick<Logger, "warn" | "debug">;
  /** Undefined where no transcripts can be read. */
  conversations?: Conversations | undefined;
  /** Writes prose with a language model; undefined, and an empty answer: there is none, and the plain form is written. */
  narrate?: ((material: DiaryMaterial, signal: AbortSignal) => Promise<string | undefined>) | undefined;
}

/** A workspace and the agents that share it. */
export interface DreamPlace {
  workspace: string;
  agentIds: readonly string[];
}

/** Result of a sweep of one workspace. */
export interface SweepResult {
  /** Epoch ms. */
  at: number;
  day: string;
  ingested: { notes: number; messages: number };
  staged: number;
  themes: Theme[];
  truths: number;
  promoted: Promotion[];
  skipped: Skipped[];
  diary: "model" | "plain" | "none";
  /** Problem of a sweep that went through, such as a `DREAMS.md` that is a link. */
  problem?: string;
  ms: number;
}

/** A sweep of one workspace takes no longer than this. */
const MAX_MS = 5 * 60_000;

/**
 * Sweeps one workspace: light, REM, deep, then the diary. It may be cut off anywhere: each step stores what it did, and the next sweep goes on from there.
 * @throws {SvcError} `dream-locked`, `dream-state-broken`, `unsafe-file`; the reason of the signal
 */
export async function sweep(place: DreamPlace, given: SweepDeps): Promise<SweepResult> {
  const deps = { ...given, signal: AbortSignal.any([given.signal, AbortSignal.timeout(MAX_MS)]) };
  const begun = performance.now();
  const at = deps.now();
  const context = { ...place, at, day: dayOf(at, deps.timeZone), deps, problems: [] as string[] };
  const light = await lightPhase(context);
  const rem = await remPhase(context);
  const deep = await deepPhase(context);
  await describe(context, { light: light.staged, ...rem, ...deep });
  const material: DiaryMaterial = {
    day: context.day,
    agentId: place.agentIds[0] ?? "main",
    // A statement that was staged before has been told before.
    snippets: light.fresh.map(({ entry }) => entry.snippet),
    themes: rem.themes.map(({ tag }) => tag),
    truths: rem.truths.map(({ entry }) => entry.snippet),
    promotions: deep.applied.map(({ text }) => text),
  };
  const diary = await tried(context, "the diary was not written", () => writeDiary(place.workspace, material, deps), "none" as const);
  await removeLeftovers(place.workspace, context.day).catch((error: unknown) =>
    deps.logger.debug("dreaming: leftovers stay", { error: messageOf(error) }),
  );
  const [problem] = context.problems;
  const result: SweepResult = {
    at,
    day: context.day,
    ingested: light.ingested,
    staged: light.staged.length,
    themes: rem.themes,
    truths: rem.truths.length,
    promoted: deep.applied,
    skipped: deep.skipped,
    diary,
    ...(problem === undefined ? {} : { problem }),
    ms: Math.round(performance.now() - begun),
  };
  await complete(place.workspace, result);
  return result;
}

interface Context extends DreamPlace {
  at: number;
  day: string;
  deps: SweepDeps;
  problems: string[];
}

/** Reads what is new and stages what was touched lately. */
async function lightPhase({
  workspace,
  agentIds,
  at,
  day,
  deps,
}: Context): Promise<{ staged: Staged[]; fresh: Staged[]; ingested: SweepResult["ingested"] }> {
  const { conversations, signal, timeZone } = deps;
  return withDreamLock(workspace, { signal, isPatient: true }, async () => {
    const state = await loadState(workspace);
    const { recall } = state;
    const daily = await ingestDaily({ workspace, recall, now: at, today: day, lookbackDays: LIGHT.lookbackDays, limit: LIGHT.limit });
    const spoken =
      conversations && (await ingestSessions({ workspace, agentIds, conversations, recall, now: at, today: day, timeZone, signal }));
    await reached("dreaming.after-ingest");
    const staged = lightStage(recall.entries, at);
    const fresh = staged.filter(({ entry }) => isNew(state.phases.get(entry.key), isDay(day, timeZone)));
    countHits(state.phases, "light", { keys: staged.map(({ entry }) => entry.key), at, isToday: isDay(day, timeZone) });
    await saveState(workspace, state, at);
    await reached("dreaming.after-light");
    // Only now: what was read and not stored would never be read again.
    await daily.commit();
    await spoken?.commit();
    await reached("dreaming.after-cursors");
    return { staged, fresh, ingested: { notes: daily.files, messages: spoken?.lines ?? 0 } };
  });
}

async function remPhase({ workspace, at, day, deps }: Context): Promise<{ themes: Theme[]; truths: Truth[] }> {
  return withDreamLock(workspace, { signal: deps.signal, isPatient: true }, async () => {
    const state = await loadState(workspace);
    const daily = await ingestDaily({
      workspace,
      recall: state.recall,
      now: at,
      today: day,
      lookbackDays: REM.lookbackDays,
      limit: REM.themes,
    });
    const stage = remStage(state.recall.entries, at);
    countHits(state.phases, "rem", { keys: stage.truths.map(({ entry }) => entry.key), at, isToday: isDay(day, deps.timeZone) });
    await saveState(workspace, state, at);
    await reached("dreaming.after-rem");
    await daily.commit();
    return stage;
  });
}

/** Never staged before this night. */
function isNew(hits: PhaseHits | undefined, isTonight: (moment: string) => boolean): boolean {
  return !hits || hits.lightHits === 0 || (hits.lightHits === 1 && isTonight(hits.lastLightAt ?? ""));
}

function isDay(day: string, timeZone: string | undefined): (moment: string) => boolean {
  return (moment) => dayOf(Date.parse(moment), timeZone) === day;
}

async function deepPhase({ workspace, at, deps }: Context): Promise<{ applied: Promotion[]; skipped: Skipped[]; ranked: number }> {
  return withDreamLock(workspace, { signal: deps.signal, isPatient: true }, async () => {
    const state = await loadState(workspace);
    const ranked = rankDeep(state.recall.entries, { phases: state.phases, now: at, thresholds: SWEEP_THRESHOLDS });
    const good = ranked.filter(({ blockedBy }) => blockedBy.length === 0);
    const { limit } = SWEEP_THRESHOLDS;
    const done = await promote(state, good, { workspace, now: at, timeZone: deps.timeZone, limit });
    return { ...done, ranked: ranked.length };
  });
}

/** Summaries of the phases, for people. */
async function describe(
  context: Context,
  {
    light,
    themes,
    truths,
    ...deep
  }: { light: Staged[]; themes: Theme[]; truths: Truth[]; applied: Promotion[]; skipped: Skipped[]; ranked: number },
): Promise<void> {
  const { workspace, day } = context;
  if (deep.ranked === 0 && light.length === 0) return;
  const write = () =>
    changeDreams(workspace, (text) => {
      const withLight = withBlock(text, "light", lightSummary(light, day));
      return withBlock(withBlock(withLight, "rem", remSummary({ themes, truths }, day)), "deep", deepSummary(deep, day));
    });
  await tried(context, "the summary was not written", write, undefined);
  await reached("dreaming.after-summary");
}

/** Files for people are written where that can be done; the state behind them is stored already. */
async function tried<T>({ problems, deps }: Context, what: string, work: () => Promise<T>, otherwise: T): Promise<T> {
  try {
    return await work();
  } catch (error) {
    deps.signal.throwIfAborted();
    problems.push(`${what}: ${messageOf(error)}`);
    deps.logger.warn(`dreaming: ${what}`, { error: messageOf(error) });
    return otherwise;
  }
}

async function complete(workspace: string, result: SweepResult): Promise<void> {
  const { at, ingested, staged, truths, promoted, skipped, diary, ms, problem, themes } = result;
  const counts = { ...ingested, staged, themes: themes.length, truths, promoted: promoted.length, skipped: skipped.length };
  await appendEvents(workspace, [
    { type: "memory.dream.completed", at: new Date(at).toISOString(), ...counts, diary, ms, ...(problem === undefined ? {} : { problem }) },
  ]);
}
