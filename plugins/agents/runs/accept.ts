import { randomUUID } from "node:crypto";
import {
  type AgentInfo,
  commonErrors,
  isSvcError,
  type MessageRow,
  messageOf,
  type QueueMode,
  type RunRequest,
  type RunRow,
  type SessionRow,
  type StoreOp,
} from "svc/sdk";
import { agentErrors } from "../errors.ts";
import { pendingFor, takeOps, withEvents } from "../heartbeat/drain.ts";
import type { HeartbeatRun } from "../heartbeat/heartbeat-run.ts";
import type { Kit } from "../kit.ts";
import { runsOf } from "../kit.ts";
import type { ModelRef } from "../models/choice.ts";
import { archiveOps } from "../sessions/archive.ts";
import { leaveBranchOps } from "../sessions/branches.ts";
import { toAgentError } from "../sessions/commit-for.ts";
import { type ExpiryReason, expiryOf, resetRuleOf } from "../sessions/expiry.ts";
import { present } from "../sessions/find.ts";
import { newestMessages } from "../sessions/newest-messages.ts";
import { freshSession, newSession, titleOf } from "../sessions/row.ts";
import { messageDetails } from "../sessions/sender.ts";
import { narrowedTools, originOf } from "../tools/operator-tools.ts";
import { whereaboutsOf } from "../tools/place.ts";
import { requestBlocks } from "./attachments.ts";
import { missingTurns, ownTurns } from "./given-history.ts";
import { contextFor } from "./message-context.ts";
import { hasRoom, queueModeOf } from "./queue.ts";
import { Run } from "./run.ts";
import { callsOf } from "./transcript.ts";
import { type NewMessage, patchOp, runRow } from "./writes.ts";

/** Runs of all sessions, at work and waiting. */
const MAX_RUNS = 1_000;
/** Maximum number of retries of a commit that another one has overtaken. */
const MOST_TRIES = 5;
/** Rows compared with a history that a caller sent. */
const COMPARED_ROWS = 1_000;
/** Newest turns of a given history that are stored: far more than a model reads, and few enough for one commit. */
const MAX_GIVEN_TURNS = 5_000;

/** Reason why a session got a new transcript: a person asked for it, or the old one had expired. */
export type ResetReason = "new" | "reset" | ExpiryReason;

export interface AcceptOptions {
  family?: "agent" | "chat";
  /** Begin a new transcript in the same commit. */
  fresh?: "new" | "reset";
  /** The caller named the transcript: it is continued, however old it is. */
  keepTranscript?: boolean;
  label?: string;
  heartbeat?: HeartbeatRun;
  /** The row of its first try, of which no message is left. */
  cutOff?: RunRow;
  /** Called between the acceptance and the start, so that whoever asked hears of it before the run's first event. */
  accepted?(run: Run): void;
}

/**
 * Checks a request and makes it durable: session, messages and run row in one commit. What comes back is accepted, not started.
 * @throws {SvcError} see `Agents.run`
 */
export async function acceptRun(given: RunRequest & { runId: string }, options: AcceptOptions, kit: Kit): Promise<Run> {
  const { place: _, ...asked } = given;
  const request = { ...asked, ...whereaboutsOf(kit, given) };
  const { agentId, sessionKey } = kit.directory.resolve(request);
  const agent = kit.directory.get(agentId);
  checkRequest(request, agent, kit);
  // The operator set a heartbeat's model: it is one of the agent's own.
  const chooser = options.heartbeat && request.model !== undefined ? { ...agent, models: [...agent.models, request.model] } : agent;
  const model = request.model === undefined ? undefined : await kit.models.check(chooser, request.model);
  const accept = () =>
    kit.sessionLock.run(sessionKey, () =>
      commitUndisturbed(() => commitAccepted({ request, options, agent, sessionKey, model }, kit)).catch((error: unknown) => {
        throw toAgentError(error, sessionKey);
      }),
    );
  const source = options.heartbeat?.eventsFrom ?? sessionKey;
  // Events are taken under the lock of the session they wait for.
  return source === sessionKey ? accept() : kit.sessionLock.run(source, accept);
}

interface Checked {
  request: RunRequest & { runId: string };
  options: AcceptOptions;
  agent: AgentInfo;
  sessionKey: string;
  model: ModelRef | undefined;
}

/** Events that another prompt has taken between the read and the commit are not read twice: what waits is read again. */
async function commitUndisturbed<T>(commit: () => Promise<T>): Promise<T> {
  for (let left = MOST_TRIES; ; left--) {
    try {
      return await commit();
    } catch (error) {
      if (!isSvcError(error, "events-taken") || left <= 1) throw error;
    }
  }
}

async function commitAccepted({ request, options, agent, sessionKey, model }: Checked, kit: Kit): Promise<Run> {
  const before = await kit.store().sessions.get(sessionKey);
  const mode = queueModeOf(kit, before, { request, isChat: options.family === "chat" });
  checkRoom(kit, sessionKey, mode);
  const now = kit.ctx.clock.now();
  const fresh = before && (options.fresh ?? expiryFor(request, { options, before, now }, kit));
  const base = before === undefined ? madeFor(request, newSession(sessionKey, agent.id, now)) : fresh ? freshSession(before, now) : before;
  const events = await pendingFor(kit, request, options.heartbeat?.eventsFrom ?? sessionKey);
  const origin = originOf({ request, session: base, events });
  const tools = narrowedTools(request, origin);
  const run = new Run({
    id: request.runId,
    agent,
    sessionKey,
    sessionId: base.sessionId,
    request: { ...request, ...(tools ? { tools } : {}) },
    family: options.family,
    model,
    mode,
    spawnedBy: base.spawnedBy,
    acceptedAt: now,
    arrivedAt: kit.ctx.clock.monotonic(),
    heartbeat: options.heartbeat,
    origin,
  });
  run.context = contextFor(kit, run, { session: base, now });
  // Only a caller that brings its own memory is compared with ours; nobody else waits for the reading.
  const brings = ownTurns(request).length + (request.toolResults?.length ?? 0) > 0;
  const known = base === before && brings ? await newestMessages(kit.store(), base.sessionId, { limit: COMPARED_ROWS }) : [];
  const messages = withEvents(messagesFor(run, known, now), run, { events, now });
  const change = changeFor(run, base, { now, label: options.label, isBusy: runsOf(kit, sessionKey).some((r) => r.phase !== "queued") });
  const session: StoreOp =
    base === before
      ? { ...patchOp(sessionKey, change, base.sessionId), uniqueLabel: options.label !== undefined }
      : {
          op: "session.put",
          session: { ...base, ...change },
          uniqueLabel: options.label !== undefined,
          ...(before ? { expectedSessionId: before.sessionId } : { ifAbsent: true }),
        };
  const results = await kit
    .store()
    .commit([
      session,
      ...(before && fresh ? [...(await archiveOps(kit, before)), ...leaveBranchOps(before)] : []),
      ...messages.map((message) => ({ op: "message.append" as const, message })),
      { op: "run.put", run: runRow(run, kit, "queued"), ...(options.cutOff ? { ifState: [options.cutOff.state] } : { ifAbsent: true }) },
      ...takeOps(events),
    ]);
  const appended = results.filter(({ seq }) => seq !== undefined);
  await tellAccepted(run, kit, { before, fresh, stored: messages.map((m, i) => ({ ...m, seq: appended[i]?.seq ?? 0 })) });
  return run;
}

function madeFor({ spawnedBy }: Pick<RunRequest, "spawnedBy">, session: SessionRow): SessionRow {
  return spawnedBy === undefined ? session : { ...session, spawnedBy };
}

/**
 * Why this request begins a new transcript without having asked for it (`session.reset`). Messages of people and hooks do; what an agent does by itself, what
 * continues a call or a run, and what meets a run at work, does not.
 */
function expiryFor(
  request: RunRequest,
  { options, before, now }: { options: AcceptOptions; before: SessionRow; now: number },
  kit: Kit,
): ExpiryReason | undefined {
  const continues = options.keepTranscript || options.cutOff || options.heartbeat || (request.toolResults?.length ?? 0) > 0;
  if (continues || (request.trigger !== "user" && request.trigger !== "hook")) return undefined;
  if (runsOf(kit, before.key).length > 0) return undefined;
  return expiryOf(resetRuleOf(kit.config.session, before), before, now);
}

/** @throws {SvcError} `busy` */
export function checkRoom(kit: Kit, sessionKey: string, mode: QueueMode | undefined): void {
  if (kit.runs.size >= MAX_RUNS || !hasRoom(kit, sessionKey, mode)) throw commonErrors.busy({}, { retryAfterMs: 5_000 });
}

function checkRequest(request: RunRequest, agent: AgentInfo, kit: Kit): void {
  const hasContent = request.message.trim() !== "" || (request.attachments?.length ?? 0) > 0 || (request.toolResults?.length ?? 0) > 0;
  if (!hasContent) throw agentErrors.messageRequired();
  const taken = request.clientTools?.find((t) => kit.tools.has(agent, t.name));
  if (taken) throw agentErrors.clientToolConflict({ tool: taken.name });
}

/** Messages that enter the transcript: given turns it does not hold, answers to client tools, the message. */
function messagesFor(run: Run, rows: readonly MessageRow[], now: number): NewMessage[] {
  const { request } = run;
  const base = () => ({ id: randomUUID(), sessionId: run.sessionId, ts: now });
  const turns = missingTurns(ownTurns(request), rows).slice(-MAX_GIVEN_TURNS);
  const given: NewMessage[] = turns.map(({ role, content, toolCallId, toolName }) => ({
    ...base(),
    role,
    content,
    kind: "history",
    ...(toolCallId === undefined ? {} : { toolCallId }),
    ...(toolName === undefined ? {} : { toolName }),
  }));
  const callers = request.toolResults ? [...rows, ...(request.history ?? []).slice(-MAX_GIVEN_TURNS)] : [];
  const names = new Map(callers.flatMap((r) => callsOf(r.content).map((c) => [c.id, c.name] as const)));
  const answers: NewMessage[] = (request.toolResults ?? []).map(({ toolCallId, text }) => ({
    ...base(),
    role: "toolResult",
    content: [{ type: "text", text }],
    toolCallId,
    toolName: names.get(toolCallId) ?? "unknown",
    runId: run.id,
  }));
  const content = requestBlocks(request);
  const kind = run.heartbeat ? { kind: "heartbeat" } : {};
  const message = { ...base(), role: "user" as const, content, runId: run.id, ...kind, ...messageDetails(request.sender, run.context) };
  return [...given, ...answers, ...(content.length > 0 ? [message] : [])];
}

/** Changes to the session row when a run is accepted. */
export function changeFor(
  run: Run,
  row: SessionRow,
  given: { now: number; label: string | undefined; isBusy: boolean },
): Partial<SessionRow> {
  const title = row.derivedTitle === undefined && !run.heartbeat ? requestTitle(run.request) : undefined;
  return {
    updatedAt: given.now,
    lastActivityAt: given.now,
    lastRunId: run.id,
    ...(given.isBusy ? {} : { status: "queued" as const }),
    ...(run.request.trigger === "user" ? { lastInteractionAt: given.now } : {}),
    ...(title === undefined ? {} : { derivedTitle: title }),
    ...(given.label === undefined ? {} : { label: given.label }),
  };
}

/** A request that only answers tool calls says what it is about in the turns that it brings along. */
function requestTitle(request: RunRequest): string | undefined {
  const asked = request.history?.find(({ role }) => role === "user");
  return titleOf(requestBlocks(request)) ?? (asked && titleOf(asked.content));
}

/** Rows from before and after the commit of an acceptance. */
interface Acceptance {
  before: SessionRow | undefined;
  fresh: ResetReason | undefined;
  stored: MessageRow[];
}

/** From here on the run is known, and whoever follows its session hears of it. Never rejects: the run is stored, and goes on untold. */
export async function tellAccepted(run: Run, kit: Kit, what: Acceptance): Promise<void> {
  kit.runs.set(run.id, run);
  try {
    await announce(run, kit, what);
  } catch (error) {
    kit.ctx.logger.error(`run ${run.id}: its acceptance could not be announced`, { error: messageOf(error) });
  }
}

async function announce(run: Run, kit: Kit, what: Acceptance): Promise<void> {
  const row = await present(kit, run.sessionKey);
  if (!row) return;
  const reason = !what.before ? "create" : what.fresh ? "reset" : "send";
  kit.events.sessionChanged(row, { reason, runId: run.id });
  for (const message of what.stored) if (message.role !== "toolResult" && message.kind !== "history") kit.events.message(row, message);
  kit.ends.used({ sessionKey: row.key, agentId: row.agentId, sessionId: row.sessionId });
  if (row.sessionId !== what.before?.sessionId)
    tellNewTranscript(kit, row, what.before && what.fresh && { row: what.before, reason: what.fresh });
}

/** Tells the plugins that listen; nobody waits for them. */
export function tellNewTranscript(kit: Kit, row: SessionRow, before: { row: SessionRow; reason: ResetReason } | undefined): void {
  const { key: sessionKey, agentId, sessionId } = row;
  if (before) kit.ends.ended({ sessionKey, agentId: before.row.agentId, sessionId: before.row.sessionId }, before.reason);
  const failed = (error: unknown) => kit.ctx.logger.warn("a session hook failed", { error: String(error) });
  if (before && kit.ctx.isHookUsed("session.reset")) {
    kit.ctx.runHook("session.reset", { sessionKey, agentId, sessionId, reason: before.reason }).catch(failed);
  }
  if (kit.ctx.isHookUsed("session.start")) kit.ctx.runHook("session.start", { sessionKey, agentId, sessionId }).catch(failed);
}
