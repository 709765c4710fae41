import { setImmediate as nextTurn } from "node:timers/promises";
import {
  type DeliveryRow,
  isSvcError,
  type JsonObject,
  type MessageRow,
  type Messaging,
  messageOf,
  type OpResult,
  type OutboundRequest,
  type RunHandle,
  type RunOutcome,
  type StoreOp,
} from "svc/sdk";
import { commitWhenAvailable, isTransient, reached, untilAvailable } from "svc/sdk/internal";
import type { DeliveryDeps } from "./delivery-deps.ts";
import {
  type DeliverResult,
  judgeRun,
  type RunResult,
  readDeliverResult,
  readRunResult,
  runIdOf,
  runNumber,
  type StepName,
} from "./delivery-state.ts";
import type { StoredAction } from "./stored-action.ts";
import { type HookReply, hasActed, summaryText } from "./texts.ts";

/** A claimed row whose steps are executed. */
export interface StepContext {
  readonly row: DeliveryRow;
  readonly action: StoredAction;
  readonly deps: DeliveryDeps;
  /** Aborted when this instance stops: the row is given back. */
  readonly signal: AbortSignal;
}

/** The record of a step as an operation. It fails with `fenced` or `delivery-state` once somebody else has claimed the row: what stands beside it is not done then. */
export function stepOp({ row, deps }: Pick<StepContext, "row" | "deps">, step: StepName, value: JsonObject): StoreOp {
  return { op: "delivery.step", uid: row.uid, leaseBoot: deps.lease, attempt: row.attempt, step, value, at: deps.ctx.clock.now() };
}

/** Records a step, with what has to be stored in the same moment. */
function record(
  context: StepContext,
  step: StepName,
  { value, with: more = [] }: { value: JsonObject; with?: StoreOp[] },
): Promise<OpResult[]> {
  const { row, deps, signal } = context;
  const isStored = async () => (await deps.store().deliveries.get(row.uid))?.steps[step] !== undefined;
  return commitWhenAvailable([...more, stepOp(context, step, value)], { deps, signal, isStored });
}

/** Rows of a transcript that are looked through for what a run said and did. */
const READ_ROWS = 200;

/** `again`: `next` is the number of the run that comes then. `refused`: no attempt can help as long as nothing else changes. */
export type RunStep = { kind: "ran"; result: RunResult } | { kind: "again" | "refused"; next: number; reason: string };

/** Runs the agent, unless that has been done. */
export async function runStep(context: StepContext): Promise<RunStep> {
  const known = readRunResult(context.row.steps.run);
  if (known) return { kind: "ran", result: known };
  const n = runNumber(context.row);
  const runId = runIdOf(context.row.uid, n);
  await reached("hooks.before-run");
  let handle: RunHandle;
  try {
    handle = await begin(context, runId);
  } catch (error) {
    if (!isSvcError(error) || isTransient(error)) throw error;
    return { kind: "refused", next: n, reason: error.message };
  }
  const outcome = await whileGoing(handle.done, context.signal);
  await reached("hooks.after-run");
  const reason = outcome.error ?? "the run failed";
  const verdict = judgeRun(outcome);
  if (verdict === "resume") return { kind: "again", next: n, reason };
  if (verdict === "repeat") return { kind: hasActed(await rowsOf(context, runId), runId) ? "refused" : "again", next: n + 1, reason };
  const result = toRunResult(runId, outcome);
  await record(context, "run", { value: { ...result } });
  await reached("hooks.after-run-step");
  return { kind: "ran", result };
}

/** Reads the transcript rows of a finished run, and those around it; nothing for one that is forgotten. */
export async function rowsOf({ deps }: Pick<StepContext, "deps">, runId: string): Promise<MessageRow[]> {
  const run = await deps.store().runs.get(runId);
  const rows: MessageRow[] = [];
  // A page may end at its size: whether the run has acted must not depend on a picture that came after it.
  while (run && rows.length < READ_ROWS && rows[0]?.seq !== 1) {
    const before = rows[0] ? { before: rows[0].seq } : {};
    const page = await deps.store().messages.page(run.sessionId, { limit: READ_ROWS - rows.length, ...before });
    if (page.length === 0) break;
    rows.unshift(...page);
    await nextTurn();
  }
  return rows;
}

/** A session at work, or a lane without a free place, makes the run wait; it is no fault. */
function begin({ action, deps, signal }: StepContext, runId: string): Promise<RunHandle> {
  const { agentId, sessionKey, message, model, thinking, timeoutMs, sessionMode } = action;
  return untilAvailable(
    () =>
      deps.agents().run({
        runId,
        resume: true,
        agentId,
        sessionKey,
        message,
        transcript: sessionMode === "isolated" ? "fresh" : "continue",
        trigger: "hook",
        lane: "hooks",
        ...(model === undefined ? {} : { model }),
        ...(thinking === undefined ? {} : { thinking }),
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
        actor: { kind: "hook", scopes: [] },
      }),
    signal,
    deps,
  );
}

/** The run's end, or the stop of this instance: the run goes on without it, or is cut off by the end of the gateway and goes on at the next start. */
function whileGoing(done: Promise<RunOutcome>, signal: AbortSignal): Promise<RunOutcome> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    done.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

function toRunResult(runId: string, { status, code, error }: RunOutcome): RunResult {
  return { runId, status, ...(code === undefined ? {} : { code }), ...(error === undefined ? {} : { error }) };
}

/** The message is a row of its own by then; only the report of the action waits this long for how it ended. */
const WAIT_MS = 10_000;

/** Hands the answer to the messages on their way out, unless that has been done. */
export async function deliverStep(context: StepContext, reply: HookReply): Promise<DeliverResult> {
  const known = readDeliverResult(context.row.steps.deliver);
  if (known) return known;
  await reached("hooks.before-deliver");
  const delivered = await deliver(context, reply);
  await reached("hooks.after-deliver");
  await record(context, "deliver", { value: { ...delivered } });
  await reached("hooks.after-deliver-step");
  return delivered;
}

async function deliver(context: StepContext, reply: HookReply): Promise<DeliverResult> {
  const { row, deps, signal } = context;
  if (reply.disposition !== "visible") return { attempted: false, because: reply.because };
  const messaging = deps.messaging();
  if (!messaging) {
    deps.ctx.logger.warn("no messaging service: the answer of a hook stays in its session", { runId: row.uid });
    return { attempted: false, because: "unavailable" };
  }
  const uid = `${row.uid}:out`;
  try {
    const route = await untilAvailable(() => routeOf(context, messaging), signal, deps);
    await untilAvailable(() => messaging.deliver({ ...route, uid, text: reply.text }), signal, deps);
    const { state, error } = await messaging.waitDelivered(uid, { signal, timeoutMs: WAIT_MS });
    return { attempted: true, state, ...(error === undefined ? {} : { error }) };
  } catch (error) {
    signal.throwIfAborted();
    if (isSvcError(error, "wait-timeout")) return { attempted: true, state: "pending" };
    if (!isSvcError(error) || isTransient(error)) throw error;
    return { attempted: true, state: "refused", error: messageOf(error) };
  }
}

/** `last` is the place where the agent's main session last heard from somebody outside; the session of the hook itself heard from nobody. */
async function routeOf({ action, deps }: StepContext, messaging: Messaging): Promise<Omit<OutboundRequest, "uid" | "text">> {
  const { agentId, sessionKey, channel, to } = action;
  const base = { agentId, sessionKey, origin: "hook" as const };
  const last = channel === "last" ? await messaging.lastRoute(mainSessionOf(agentId, deps).sessionKey) : undefined;
  if (!last) return { ...base, channel, ...(to === undefined ? {} : { to }) };
  if (to === undefined || to === last.to) return { ...base, ...last };
  return { ...base, channel: last.channel, to, ...(last.accountId === undefined ? {} : { accountId: last.accountId }) };
}

/** Reports the end of the action to the main session. The event and the record of it are one commit: it is reported exactly once. */
export async function summaryStep(context: StepContext, end: { text: string } | { error: string }): Promise<void> {
  const { row, action, deps, signal } = context;
  if (row.steps.summary) return;
  const text = summaryText(action.name, end);
  await reached("hooks.before-summary");
  try {
    await record(context, "summary", { value: { as: "event" }, with: [summaryEvent(context, text)] });
  } catch (error) {
    if (!isSvcError(error, "system-events-full")) throw error;
    // Nobody has read a thousand events; the people who look into the session see it all the same.
    const target = mainSessionOf(action.agentId, deps);
    await untilAvailable(() => deps.agents().inject({ ...target, text, id: `${row.uid}:summary` }), signal, deps);
    await record(context, "summary", { value: { as: "note" } });
  }
  await reached("hooks.after-summary");
}

/** With `wakeMode: now` the event remembers that somebody is to be woken, so that a restart does not forget it. */
export function summaryEvent({ row, action, deps }: Pick<StepContext, "row" | "action" | "deps">, text: string): StoreOp {
  const { sessionKey } = mainSessionOf(action.agentId, deps);
  const event = { sessionKey, text, same: row.uid, source: "hook", ts: deps.ctx.clock.now(), wake: action.wakeMode === "now" };
  return { op: "systemEvent.add", event };
}

/** Wakes the agent when the action wants that. The event of the summary remembers it: a wake that is lost here comes at the next start. */
export function wakeMainSession({ agentId, wakeMode }: StoredAction, deps: DeliveryDeps): boolean {
  if (wakeMode !== "now") return false;
  try {
    deps.agents().wake({ agentId: mainSessionOf(agentId, deps).agentId, reason: "hook", mode: "now" });
    return true;
  } catch (error) {
    deps.ctx.logger.warn("no agent could be woken for a hook", { agentId, error: messageOf(error) });
    return false;
  }
}

/** Finds where the end of an action is shown: the main session of its agent, or of the default agent when that one is gone. */
export function mainSessionOf(agentId: string | undefined, deps: DeliveryDeps): { agentId: string; sessionKey: string } {
  try {
    return deps.agents().resolve(agentId === undefined ? {} : { agentId });
  } catch (error) {
    if (!isSvcError(error, "unknown-agent")) throw error;
    return deps.agents().resolve({});
  }
}
