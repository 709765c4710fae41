import { isSvcError, type JsonObject, type MessageRow, messageOf, type RunState, type SessionCounters, type SessionRow } from "svc/sdk";
import { reached } from "svc/sdk/internal";
import { type Kit, runsOf } from "../kit.ts";
import { noUsage } from "../models/turn.ts";
import { usageCounters } from "../sessions/counters.ts";
import { visibleText } from "../sessions/display.ts";
import { present } from "../sessions/find.ts";
import { previewOf } from "../sessions/row.ts";
import { type MadeTrace, makeTrace } from "../traces/make-trace.ts";
import { blankRow } from "./blank-row.ts";
import { isRevivable } from "./cut-off.ts";
import { handOver } from "./deliver.ts";
import { type AbortReason, abortSentences, RunFailure, toRunFailure } from "./failure.ts";
import type { LoopResult } from "./loop.ts";
import { BETWEEN_TEXTS, INTERRUPTED, MERGED, outcomeOf, type StoredOutcome, statesOf, toStored } from "./outcome.ts";
import type { Run } from "./run.ts";
import { chatError } from "./run-events.ts";
import { thinkingNote } from "./thinking-note.ts";
import { commitRun, type NewMessage, runRow, type SessionChange } from "./writes.ts";

/** Durable first: the answer and the end of the run are one commit, and only then anybody hears of it. */
export async function succeed(run: Run, kit: Kit, result: LoopResult): Promise<void> {
  beginEnd(run);
  const note = await thinkingNote(run, kit);
  if (note !== undefined) kit.ctx.logger.info(`run ${run.id}: ${note}`);
  const outcome = {
    ...outcomeFor(run, kit, { status: "ok", stopReason: result.stopReason, toolCalls: result.toolCalls }),
    ...(note === undefined ? {} : { notes: [note] }),
  };
  run.success = outcome;
  await reached("agents.before-end");
  const [last] = await store(run, kit, outcome, result.last);
  await handOver(run, kit);
  await settleTurn(run, kit, outcome, {
    last,
    chat: { state: "final", ...(last ? shownMessage(run, last.ts) : {}), stopReason: outcome.stopReason, usage: run.usage },
    lifecycle: { phase: "end", aborted: false, stopReason: outcome.stopReason },
  });
}

/** Ends a run that did not succeed, whether it was running or still waiting. Never rejects. */
export async function fail(run: Run, kit: Kit, error: unknown): Promise<void> {
  if (run.phase === "settled") return;
  beginEnd(run);
  const reason = run.aborted;
  const failure = reason ? abortFailure(reason, run) : toRunFailure(error, { provider: run.provider, model: run.modelId });
  const isSaidAgain = reason === "shutdown" && isRevivable(run.request);
  const partial = isSaidAgain ? undefined : partialMessage(run, kit, reason ?? "error");
  tellRest(run, kit);
  run.endMessage();
  const outcome = outcomeFor(run, kit, {
    status: "error",
    code: failure.code,
    error: failure.message,
    ...(failure.detail.httpStatus === undefined ? {} : { httpStatus: Number(failure.detail.httpStatus) }),
    ...(failure.retryAfterMs === undefined ? {} : { retryAfterMs: failure.retryAfterMs }),
    stopReason: reason ?? "error",
    toolCalls: [],
  });
  if (!reason) kit.ctx.logger.warn(`run ${run.id} failed`, { code: failure.code, error: failure.message });
  let saved: MessageRow[] = [];
  try {
    saved = await store(run, kit, outcome, partial);
  } catch (storeError) {
    const stored = isSvcError(storeError, "run-state") ? await storedEnd(run, kit) : undefined;
    if (stored) return settleAsStored(run, kit, stored);
    kit.ctx.logger.error(`run ${run.id}: its end could not be stored; after a restart it counts as interrupted`, {
      error: messageOf(storeError),
    });
  }
  const isQuiet = reason !== undefined && reason !== "timeout";
  const message = partial && reason ? shownMessage(run, partial.ts) : {};
  await settleTurn(run, kit, outcome, {
    last: saved[0],
    chat: isQuiet ? { state: "aborted", ...message, stopReason: reason } : { ...chatError(failure), ...message },
    lifecycle: isQuiet
      ? { phase: "end", aborted: true, stopReason: reason }
      : { phase: "error", error: failure.message, ...(reason ? { aborted: true } : {}) },
  });
}

/** The end that is stored already: by a commit whose answer was lost, or by another owner. */
async function storedEnd(run: Run, kit: Kit): Promise<StoredOutcome | undefined> {
  try {
    const row = await kit.store().runs.get(run.id);
    if (!row || row.state === "queued" || row.state === "running") return undefined;
    const outcome = outcomeOf(row);
    return outcome.isRepeatable === false ? (run.success ?? outcome) : outcome;
  } catch {
    return undefined;
  }
}

/** A run ends once, and as its row says. */
async function settleAsStored(run: Run, kit: Kit, outcome: StoredOutcome): Promise<void> {
  kit.ctx.logger.warn(`run ${run.id}: its end was stored before, and stays`, { status: outcome.status, stopReason: outcome.stopReason });
  const { stopReason } = outcome;
  if (outcome.status === "ok") {
    await handOver(run, kit);
    const message = shownMessage(run, outcome.endedAt ?? kit.ctx.clock.now());
    return settleTurn(run, kit, outcome, {
      last: undefined,
      chat: { state: "final", ...message, stopReason, usage: outcome.usage },
      lifecycle: { phase: "end", aborted: false, stopReason },
    });
  }
  const failure = new RunFailure(outcome.code ?? "INTERRUPTED", outcome.error ?? INTERRUPTED);
  return settleTurn(run, kit, outcome, {
    last: undefined,
    chat: chatError(failure),
    lifecycle: { phase: "error", error: failure.message },
  });
}

/** Sends the text that was held back of the last message. A run that outlasts its plugin has nobody to tell it to, and ends all the same. */
function tellRest(run: Run, kit: Kit): void {
  try {
    kit.events.textEnd(run);
  } catch (error) {
    kit.ctx.logger.warn(`run ${run.id}: the rest of its text could not be sent`, { error: messageOf(error) });
  }
}

/** From here on nothing stops the run, nor those that joined it. */
function beginEnd(run: Run): void {
  for (const ending of [run, ...run.followers]) ending.phase = "ending";
}

/** Final events of a run on the wire. */
interface FinalEvents {
  last: MessageRow | undefined;
  chat: Parameters<Kit["events"]["chatEnd"]>[1];
  lifecycle: { phase: "end" | "error"; [key: string]: unknown };
}

/** The run ends, and with it those that joined it; their answer is that of the run. */
async function settleTurn(run: Run, kit: Kit, outcome: StoredOutcome, final: FinalEvents): Promise<void> {
  // Read before: from here on nothing waits, so that nothing of the run follows its last event.
  const session = await present(kit, run.sessionKey).catch((error: unknown) => {
    kit.ctx.logger.error(`run ${run.id}: its session could not be read for the events of its end`, { error: messageOf(error) });
    return undefined;
  });
  settleRun(run, { kit, session }, outcome, final);
  const { message: _, usage: __, ...chat } = final.chat;
  for (const follower of run.followers) {
    const own = followerOutcome(follower, run, outcome);
    const stopReason = final.lifecycle.stopReason === undefined ? {} : { stopReason: own.stopReason };
    settleRun(follower, { kit, session }, own, {
      last: undefined,
      chat: { ...chat, state: final.chat.state, ...stopReason },
      lifecycle: { ...final.lifecycle, ...stopReason },
    });
  }
}

/** The outcome of a run whose message was answered by the turn of another. */
function followerOutcome(follower: Run, lead: Run, outcome: StoredOutcome): StoredOutcome {
  const { startedAt } = follower;
  return {
    ...outcome,
    text: "",
    texts: [],
    reasoning: "",
    toolCalls: [],
    usage: noUsage,
    stopReason: outcome.status === "ok" ? MERGED : outcome.stopReason,
    mergedInto: lead.id,
    ...(startedAt === undefined ? {} : { startedAt, durationMs: Math.max(0, (outcome.endedAt ?? startedAt) - startedAt) }),
  };
}

/** Nothing of the run follows the terminal lifecycle event. */
function settleRun(
  run: Run,
  { kit, session }: { kit: Kit; session: SessionRow | undefined },
  outcome: StoredOutcome,
  final: FinalEvents,
): void {
  kit.runs.delete(run.id);
  try {
    if (session && final.last) kit.events.message(session, final.last);
    kit.events.chatEnd(run, final.chat);
    if (session?.sessionId === run.sessionId) kit.events.sessionChanged(session, { phase: final.lifecycle.phase, runId: run.id });
    const { phase, ...rest } = final.lifecycle;
    kit.events.lifecycle(run, { phase, startedAt: run.startedAt, endedAt: outcome.endedAt, ...rest });
  } catch (error) {
    kit.ctx.logger.error(`run ${run.id}: the events of its end could not be sent`, { error: messageOf(error) });
  }
  kit.ctx.logger.debug("run ended", () => {
    const { status, code, stopReason, durationMs, provider, model, usage, toolCalls } = outcome;
    return { runId: run.id, status, code, stopReason, durationMs, provider, model, tokens: usage.total, clientToolCalls: toolCalls.length };
  });
  kit.figures.runEnded(run, outcome);
  run.settle(outcome);
  run.hold?.dispose();
  tellEnd(run, kit, outcome);
}

async function store(run: Run, kit: Kit, outcome: StoredOutcome, last: NewMessage | undefined): Promise<MessageRow[]> {
  const states = statesOf(outcome);
  const endedAt = outcome.endedAt ?? kit.ctx.clock.now();
  const ends = [[run, outcome] as const, ...run.followers.map((f) => [f, followerOutcome(f, run, outcome)] as const)];
  const made = await traceOf(run, kit, outcome);
  // Nothing waits between this and the commit: what a later ticket deletes, it has to find.
  const ticket = made && kit.traces.ticket(made);
  try {
    const rows = await commitRun(run, kit, {
      messages: last ? [last] : [],
      more: [
        ...ends.map(([r, o]) => ({
          op: "run.put" as const,
          run: runRow(r, kit, states.run, { endedAt, outcome: toStored(o, r.request) }),
          ifState: ["queued", "running"] satisfies RunState[],
          ifOwner: kit.bootId,
        })),
        ...(ticket?.ops ?? []),
      ],
      ...(hadNoTurn(run, kit) ? { session: { updatedAt: endedAt } } : sessionEnd(run, { status: states.session, endedAt })),
    });
    ticket?.stored();
    return rows;
  } catch (error) {
    ticket?.lost();
    throw error;
  } finally {
    run.trace.release();
  }
}

/** A run ends without its trace rather than not at all. */
async function traceOf(run: Run, kit: Kit, outcome: StoredOutcome): Promise<MadeTrace | undefined> {
  try {
    return await makeTrace(run, outcome, { redact: kit.redact, isKnown: (block) => kit.traces.isKnown(block) });
  } catch (error) {
    kit.ctx.logger.warn(`run ${run.id}: it leaves no trace`, { error: messageOf(error) });
    return undefined;
  }
}

/** While another run of the session is at work, the end of one that waited is not the state of the session. */
function hadNoTurn(run: Run, kit: Kit): boolean {
  const isAtWork = runsOf(kit, run.sessionKey).some((r) => r !== run && !r.lead && r.phase !== "queued");
  return isAtWork && (run.startedAt === undefined || run.lead !== undefined);
}

function sessionEnd(
  run: Run,
  end: { status: NonNullable<SessionRow["status"]>; endedAt: number },
): { session: SessionChange; add: SessionCounters } {
  const preview = previewOf(visibleText(run.shownTexts.at(-1) ?? ""));
  const { usage, contextTokens } = run;
  return {
    session: {
      ...(contextTokens === undefined ? {} : { totalTokens: contextTokens }),
      status: end.status,
      endedAt: end.endedAt,
      updatedAt: end.endedAt,
      lastActivityAt: end.endedAt,
      ...(preview ? { lastMessagePreview: preview } : {}),
    },
    add: usageCounters(usage),
  };
}

function outcomeFor(
  run: Run,
  kit: Kit,
  end: Pick<StoredOutcome, "status" | "code" | "error" | "httpStatus" | "retryAfterMs" | "stopReason"> & {
    toolCalls: LoopResult["toolCalls"];
  },
): StoredOutcome {
  const endedAt = kit.ctx.clock.now();
  return {
    status: end.status,
    ...(end.code === undefined ? {} : { code: end.code }),
    ...(end.error === undefined ? {} : { error: end.error }),
    text: run.shownTexts.join(BETWEEN_TEXTS),
    texts: [...run.shownTexts],
    ...(run.reasonings.length === 0 ? {} : { reasoning: run.reasonings.join("\n\n") }),
    ...(end.httpStatus === undefined ? {} : { httpStatus: end.httpStatus }),
    ...(end.retryAfterMs === undefined ? {} : { retryAfterMs: end.retryAfterMs }),
    toolCalls: end.toolCalls.map(({ id, name, args }) => ({ id, name, args })),
    usage: run.usage,
    stopReason: end.stopReason,
    ...(run.provider === undefined ? {} : { provider: run.provider }),
    ...(run.modelId === undefined ? {} : { model: run.modelId }),
    ...(run.startedAt === undefined ? {} : { startedAt: run.startedAt, durationMs: Math.max(0, endedAt - run.startedAt) }),
    endedAt,
    ...(run.request.deliver ? { deliveryStatus: "suppressed" as const } : {}),
    ...(run.lead ? { mergedInto: run.lead.id } : {}),
    ...(run.isLeftOut ? { isLeftOut: true as const } : {}),
  };
}

/** Message with the text shown before the run was interrupted; without it the history would hold less than people saw. */
function partialMessage(run: Run, kit: Kit, stopReason: AbortReason | "error"): NewMessage | undefined {
  if (run.itemText === "") return undefined;
  return {
    ...blankRow(run, kit),
    role: "assistant",
    content: [{ type: "text", text: run.itemText }],
    stopReason,
    ...(stopReason === "error" ? {} : { aborted: true }),
    ...(run.provider === undefined ? {} : { provider: run.provider }),
    ...(run.modelId === undefined ? {} : { model: run.modelId }),
  };
}

/** Nothing for an answer of which nothing is to be seen. */
function shownMessage(run: Run, timestamp: number): { message?: JsonObject } {
  const text = visibleText(run.shownTexts.at(-1) ?? "");
  return text.trim() === "" ? {} : { message: { role: "assistant", content: [{ type: "text", text }], timestamp } };
}

function abortFailure(reason: AbortReason, run: Run): RunFailure {
  if (run.isLeftOut) return new RunFailure("ABORTED", "too many messages were waiting; this one got no turn");
  const code = reason === "timeout" ? "TIMEOUT" : reason === "shutdown" ? "INTERRUPTED" : "ABORTED";
  return new RunFailure(code, abortSentences[reason], { kind: reason === "timeout" ? "timeout" : "unknown" });
}

function tellEnd(run: Run, kit: Kit, { status, durationMs, usage }: StoredOutcome): void {
  if (!kit.ctx.isHookUsed("agent.end")) return;
  const ids = { runId: run.id, agentId: run.agent.id, sessionKey: run.sessionKey };
  kit.ctx
    .runHook("agent.end", { ...ids, trigger: run.request.trigger, status, ms: durationMs ?? 0, usage, ...modelOf(run) }, ids)
    .catch((error) => kit.ctx.logger.warn("hook agent.end failed", { error: messageOf(error) }));
}

function modelOf({ provider, modelId }: Run): { model?: string } {
  return provider === undefined || modelId === undefined ? {} : { model: `${provider}/${modelId}` };
}
