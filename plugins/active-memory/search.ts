import { type Agents, isModelError, isSvcError, messageOf, type PluginContext, type Store } from "svc/sdk";
import type { Breakers } from "./breaker.ts";
import { cacheKey, type NoteCache, sha1 } from "./cache.ts";
import { readQuery } from "./conversation.ts";
import { OWN_KEY } from "./eligibility.ts";
import { instructionsFor } from "./instructions.ts";
import { noteOf } from "./note.ts";
import type { QueryMode, Settings } from "./settings.ts";
import type { Transcripts } from "./transcripts.ts";

/** Tools of the model that searches, and no others. */
const TOOLS = ["memory_search", "memory_get"];

export interface SearchDeps {
  ctx: Pick<PluginContext, "clock" | "timers" | "logger">;
  agents(): Pick<Agents, "ask">;
  store(): Pick<Store, "messages" | "sessions">;
  cache: NoteCache;
  breakers: Breakers;
  transcripts: Transcripts;
}

/** Run that a search is for. */
export interface SearchedRun {
  agentId: string;
  sessionKey: string;
  sessionId: string | undefined;
  runId: string | undefined;
  prompt: string;
  /** Names of the tools that it may call itself. */
  tools: readonly string[];
}

/** Outcome of a search. `unavailable`: it failed, no model could be asked, or searches pause after failures. */
export interface Outcome {
  status: "ok" | "empty" | "timeout" | "unavailable";
  note?: string;
  ms: number;
  mode: QueryMode;
  isCached: boolean;
}

class TimedOut extends Error {}

/** Searches memory for what helps with a message. Never rejects; ends at the time limit or with the signal, whatever the model and the tools do. */
export async function searchFor(
  run: SearchedRun,
  { deps, settings, signal }: { deps: SearchDeps; settings: Settings; signal: AbortSignal },
): Promise<Outcome> {
  const { clock, logger } = deps.ctx;
  const from = clock.monotonic();
  const { queryMode: mode, timeoutMs } = settings;
  const ended = (status: Outcome["status"], more: Partial<Outcome> = {}): Outcome => ({
    status,
    ms: Math.round(clock.monotonic() - from),
    mode,
    isCached: false,
    ...more,
  });
  const found = (note: string | undefined, isCached: boolean) =>
    note === undefined ? ended("empty", { isCached }) : ended("ok", { note, isCached });
  if (deps.breakers.isOpen(run.agentId)) return ended("unavailable");
  try {
    const outcome = await within(deps.ctx.timers, { timeoutMs, signal }, async (stop) => {
      const query = await readQuery(deps.store().messages, run, settings);
      const key = cacheKey({ ...run, query });
      const kept = deps.cache.get(key);
      if (kept) return found(kept.note, true);
      const note = await askFor(run, query, { deps, settings, signal: stop });
      deps.cache.set(key, { note }, settings.cacheTtlMs);
      return found(note, false);
    });
    if (!outcome.isCached) deps.breakers.succeeded(run.agentId);
    return outcome;
  } catch (error) {
    if (signal.aborted) return ended("unavailable");
    const isLate = error instanceof TimedOut;
    // That there is no model for it is no failure of one.
    const isFailure = isLate || !isSvcError(error, "model-cannot-read");
    const reason = isLate ? `no answer within ${timeoutMs} ms` : messageOf(error);
    logger.debug(`memory was not searched ahead of an answer: ${reason}`, { agentId: run.agentId });
    if (isFailure && deps.breakers.failed(run.agentId, reason))
      logger.warn(`agent "${run.agentId}": searches ahead of answers pause for a minute after failures in a row`, { error: reason });
    return ended(isLate ? "timeout" : "unavailable");
  }
}

async function askFor(
  run: SearchedRun,
  query: string,
  { deps, settings, signal }: { deps: SearchDeps; settings: Settings; signal: AbortSignal },
): Promise<string | undefined> {
  const { agentId, sessionKey, runId } = run;
  const system = instructionsFor(settings);
  const question = {
    agentId,
    sessionKey: `${sessionKey}:${OWN_KEY}:${sha1(query).slice(0, 12)}`,
    ...(runId === undefined ? {} : { runId }),
    system,
    content: [{ type: "text" as const, text: query }],
    ...(settings.model === undefined ? {} : { model: settings.model }),
    isNamedOnly: settings.modelFallbackPolicy === "resolved-only",
    thinking: settings.thinking,
    tools: TOOLS.filter((name) => run.tools.includes(name)),
    signal,
  };
  try {
    const answer = await deps.agents().ask(question);
    const note = noteOf(answer.text, settings.maxSummaryChars);
    if (settings.persistTranscripts) await deps.transcripts.keep({ ...question, model: answer.model, messages: answer.messages, note });
    return note;
  } catch (error) {
    // A model that says nothing has found nothing.
    if (isModelError(error) && error.fault === "empty") return undefined;
    throw error;
  }
}

/** Work that nobody waits for beyond a time. @throws {TimedOut}, the reason of the signal, or what the work throws */
async function within<T>(
  timers: PluginContext["timers"],
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const timer = timers.setTimeout(() => limit.abort(new TimedOut()), timeoutMs);
  const stop = AbortSignal.any([signal, limit.signal]);
  const ended = new Promise<never>((_, reject) => {
    if (stop.aborted) reject(stop.reason);
    stop.addEventListener("abort", () => reject(stop.reason), { once: true });
  });
  const done = work(stop);
  done.catch(() => undefined); // late, it is of no interest
  try {
    return await Promise.race([done, ended]);
  } finally {
    void timer.dispose();
  }
}
