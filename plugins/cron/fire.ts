import {
  type Agents,
  type CommitOptions,
  type ContributionView,
  type CronEventHandler,
  isSvcError,
  messageOf,
  type RunHandle,
  type RunOutcome,
  type RunRequest,
  type Store,
  type SvcConfig,
} from "svc/sdk";
import { CRON_SCOPE, isTransient, reached, untilAvailable } from "svc/sdk/internal";
import { type DeliverDeps, deliverText, destinationOf } from "./deliver.ts";
import { defined, type Job, type LogEntry, shortError, summaryOf } from "./job.ts";
import { afterRun, type End, guardOf, isAlert, planNext, toEnd } from "./outcome.ts";
import type { Change, JobRows } from "./rows.ts";
import { newestSlot, staggerOf } from "./schedule.ts";

/** Times that a run is continued after restarts; one that is cut off more often has ended. */
const MAX_RESUMES = 3;

export interface FireDeps extends DeliverDeps {
  rows: JobRows;
  store: () => Pick<Store, "commit">;
  agents: () => Pick<Agents, "run" | "inject" | "resolve" | "wake">;
  config: () => SvcConfig["cron"];
  fence: () => CommitOptions["fence"];
  /** Plugins that take the events of their own jobs. */
  handlers: ContributionView<CronEventHandler>;
  /** Tells clients. */
  tell(job: Job, action: "started" | "finished", more?: Partial<LogEntry>): void;
}

/** The run of one job from its claim to its end. */
interface Firing {
  deps: FireDeps;
  signal: AbortSignal;
}

/**
 * Runs a job that is due, or goes on with the run that an earlier process began. The slot is taken on before anything is done with it, and is never taken twice.
 * @returns the job as it is then; undefined when it is gone, and removed
 * @throws the signal's reason, and what a store throws that cannot be helped
 */
export async function fire(id: string, deps: FireDeps, signal: AbortSignal): Promise<Job | undefined> {
  const firing = { deps, signal };
  await reached("cron.before-claim");
  const claimed = await claim(id, firing);
  if (!claimed) return undefined;
  const { job } = claimed;
  if (job.state.runningAtMs === undefined) return job;
  await reached("cron.after-claim");
  deps.tell(job, "started", defined({ runAtMs: job.state.runningAtMs }));
  return job.payload.kind === "systemEvent" ? fireEvent(job, firing) : fireTurn(job, firing);
}

/** Takes the newest due slot, or the run that is wanted; a job that runs already is continued. */
function claim(id: string, firing: Firing): Promise<{ job: Job; changed: boolean } | undefined> {
  const { deps } = firing;
  return stored(firing, id, (job) => {
    const now = deps.ctx.clock.now();
    const { state } = job;
    if (state.runningAtMs !== undefined) return { job: { ...job, state: { ...state, resumes: (state.resumes ?? 0) + 1 } } };
    const { forcedAtMs, ...rest } = state;
    if (forcedAtMs !== undefined) return { job: { ...job, state: { ...rest, runningAtMs: now, runId: forcedRunId(id, forcedAtMs) } } };
    if (!job.enabled || state.nextRunAtMs === undefined || state.nextRunAtMs > now) return undefined;
    const slot = slotOf(job, now);
    const planned = { ...rest, lastSlotMs: slot ?? state.lastSlotMs };
    const nextRunAtMs = planNext({ ...job, state: planned }, now);
    // Nothing is due after all, as where the clock went back.
    if (slot === undefined) return { job: { ...job, state: defined({ ...rest, nextRunAtMs }) } };
    return { job: { ...job, state: defined({ ...planned, nextRunAtMs, runningAtMs: now, runId: slotRunId(job, slot) }) } };
  });
}

/** The slot that a due job takes: the newest one, or that of a failed try. */
export function slotOf(job: Job, now: number): number | undefined {
  const { tries, lastSlotMs } = job.state;
  if (tries !== undefined && lastSlotMs !== undefined) return lastSlotMs;
  return newestSlot(job.schedule, { after: guardOf(job, now), upTo: now - staggerOf(job.schedule, job.id) });
}

/** Id of the run of a slot, the same for whoever works it out: a slot has one run, and each try after a failure its own. */
export function slotRunId({ id, state: { tries } }: Job, slot: number): string {
  return `${id}-${slot}${tries === undefined ? "" : `-${tries + 1}`}`;
}

/** Id of a run that was asked for at a moment. */
export function forcedRunId(id: string, atMs: number): string {
  return `${id}-f${atMs}`;
}

/** Repeats a change until the storage takes it; one that was stored although its answer was lost finds itself in the row. */
function stored(
  { deps, signal }: Firing,
  id: string,
  fn: (job: Job) => Change | undefined,
): Promise<{ job: Job; changed: boolean } | undefined> {
  return untilAvailable(() => deps.rows.change(id, fn, deps.fence()), signal, deps);
}

/** The event and the end of the slot are one commit: the agent is told exactly once. */
async function fireEvent(job: Job, firing: Firing): Promise<Job | undefined> {
  const { deps } = firing;
  const { payload, wakeMode } = job;
  if (payload.kind !== "systemEvent") return job;
  const handler = handlerOf(payload.text, deps);
  if (handler) return fireHandled(job, handler, firing);
  await reached("cron.before-event");
  try {
    const target = deps.agents().resolve(defined({ agentId: job.agentId }));
    const { sessionKey } = target;
    const event = { sessionKey, text: payload.text, source: "cron", ts: deps.ctx.clock.now(), wake: wakeMode === "now" };
    const end = endOf(job, { status: "ok" }, firing);
    const after = await finish(job, { end, ops: [{ op: "systemEvent.add", event }] }, firing);
    await reached("cron.after-event");
    wake(target.agentId, job, deps);
    return after;
  } catch (error) {
    firing.signal.throwIfAborted();
    if (!isSvcError(error) || isTransient(error) || error.code === "fenced") throw error;
    return endTurn(job, { end: endOf(job, { status: "error", error: error.message }, firing) }, firing);
  }
}

/** The plugin that keeps the job: its event is not for the agent. */
function handlerOf(text: string, { handlers }: FireDeps): CronEventHandler | undefined {
  const id = /^\[managed-by=([\w.-]{1,100})\]/.exec(text)?.[1];
  return id === undefined ? undefined : handlers.get(id)?.value;
}

/** A plugin does the work of its job; when it is cut off with the gateway, the next start goes on with the same run. */
async function fireHandled(job: Job, handler: CronEventHandler, firing: Firing): Promise<Job | undefined> {
  const { signal } = firing;
  const resumes = job.state.resumes ?? 0;
  await reached("cron.before-handler");
  try {
    if (resumes > MAX_RESUMES) throw new Error(`interrupted: the gateway ended ${resumes} times while it ran`);
    const text = await handler.run({ jobId: job.id, signal });
    return await endTurn(job, { end: endOf(job, { status: "ok" }, firing), text }, firing);
  } catch (error) {
    signal.throwIfAborted();
    if (isSvcError(error) && (isTransient(error) || error.code === "fenced")) throw error;
    return endTurn(job, { end: endOf(job, { status: "error", error: messageOf(error) }, firing) }, firing);
  }
}

/** A wake that fails is no fault of the job: the event waits, and the next heartbeat reads it. */
function wake(agentId: string, { id, wakeMode }: Job, { agents, ctx }: FireDeps): void {
  try {
    agents().wake({ agentId, reason: "cron", mode: wakeMode, isOwn: true });
  } catch (error) {
    ctx.logger.debug("cron: the agent was not woken", { jobId: id, error: messageOf(error) });
  }
}

async function fireTurn(job: Job, firing: Firing): Promise<Job | undefined> {
  const { deps, signal } = firing;
  const { outcome, sessionId, target } = await runTurn(job, firing);
  await reached("cron.after-run");
  let end = endOf(job, toEnd(outcome), firing);
  const to = destinationOf(job);
  const { runId = "" } = job.state;
  if (outcome.status === "ok" && to && target && outcome.text.trim() !== "") {
    const message = defined({ uid: `${runId}:out`, ...target, text: outcome.text, to, label: job.name, origin: job.origin });
    const delivered = await deliverText(message, deps, signal);
    // The heartbeat would have the rights of the operator, which the job of another person does not have: that note waits.
    if (delivered.as === "note" && job.origin === undefined) wake(target.agentId, job, deps);
    if (delivered.refused !== undefined && job.delivery?.bestEffort !== true)
      end = { ...end, status: "error", error: `the answer was not delivered where it should go: ${delivered.refused}` };
    await reached("cron.after-deliver");
  }
  const session = target && sessionId !== undefined ? { key: target.sessionKey, sessionId } : undefined;
  return endTurn(job, { end, session, text: outcome.text }, firing);
}

interface Turn {
  outcome: Pick<RunOutcome, "status" | "code" | "error" | "text">;
  sessionId?: string;
  target?: { agentId: string; sessionKey: string };
}

/** Runs the agent, or goes on with its run. A run that was cut off with its gateway is the same run after the next start. */
async function runTurn(job: Job, firing: Firing): Promise<Turn> {
  const { deps, signal } = firing;
  const failed = (error: string, code?: string): Turn => ({ outcome: defined({ status: "error" as const, text: "", error, code }) });
  for (let resumes = job.state.resumes ?? 0; ; resumes += 1) {
    if (resumes > MAX_RESUMES) return failed(`interrupted: the gateway ended ${resumes} times while it ran`, "INTERRUPTED");
    let handle: RunHandle;
    try {
      handle = await untilAvailable(() => deps.agents().run(requestOf(job, deps)), signal, deps);
    } catch (error) {
      signal.throwIfAborted();
      if (!isSvcError(error) || isTransient(error)) throw error;
      return failed(error.message, error.code.toUpperCase().replaceAll("-", "_"));
    }
    const { sessionId, agentId, sessionKey } = handle;
    const outcome = await whileGoing(handle.done, signal);
    if (outcome.code !== "INTERRUPTED") return { outcome, sessionId, target: { agentId, sessionKey } };
  }
}

function requestOf(job: Job, { ctx }: FireDeps): RunRequest {
  const { payload, agentId, name, state, delivery, origin } = job;
  const { runId = "" } = state;
  if (payload.kind !== "agentTurn") throw new TypeError("a job of the main session is no run");
  const { message, model, thinking, timeoutSeconds } = payload;
  const reader =
    delivery?.mode === "announce" ? "Your answer is sent as a message to the person who planned it." : "Your answer is stored, not sent.";
  const at = new Date(state.runningAtMs ?? ctx.clock.now()).toISOString();
  const again = (state.resumes ?? 0) > 0 ? " An earlier attempt was cut off; it may have acted already." : "";
  return {
    runId,
    resume: true,
    sessionKey: `cron:${job.id}:run:${runId}`,
    message,
    transcript: "fresh",
    trigger: "cron",
    lane: "cron",
    extraSystem: `This is a run of the scheduled job ${JSON.stringify(name)}, begun at ${at}. Nobody is there to answer a question. ${reader}${again}`,
    ...defined({ agentId, model, thinking, timeoutMs: timeoutSeconds === undefined ? undefined : timeoutSeconds * 1_000 }),
    ...(origin === undefined ? {} : { origin }),
    actor: { kind: "internal", scopes: [] },
  };
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

function endOf(job: Job, end: Pick<End, "status" | "code" | "error">, { deps }: Firing): End {
  const at = deps.ctx.clock.now();
  const { runningAtMs = at, runId } = job.state;
  const short = end.error === undefined ? {} : { error: shortError(end.error) };
  return { ...end, ...short, at, durationMs: Math.max(0, at - runningAtMs), isForced: runId?.startsWith(`${job.id}-f`) ?? false };
}

/** Tells people what they should know, then stores the end: told under one name, so that a repeat tells nobody twice. */
async function endTurn(job: Job, ended: Ended, firing: Firing): Promise<Job | undefined> {
  const { deps, signal } = firing;
  const { retry, failureAlert } = deps.config();
  const after = afterRun(job, ended.end, retry);
  const hasAlert = isAlert(job, after, failureAlert, ended.end.at);
  if (hasAlert) await sendAlert(job, { error: ended.end.error ?? "", ...after }, { deps, signal });
  await reached("cron.before-finish");
  const stored = await finish(job, { ...ended, hasAlert }, firing);
  await reached("cron.after-finish");
  return stored;
}

async function sendAlert(
  job: Job,
  { error, job: after, isSwitchedOff }: { error: string; job: Job; isSwitchedOff: boolean },
  { deps, signal }: Firing,
): Promise<void> {
  const count = after.state.consecutiveErrors;
  const how = count === 1 ? "failed" : `failed ${count} times in a row`;
  const off = isSwitchedOff ? ` It is switched off; svc cron enable ${job.id} switches it on again.` : "";
  const text = `The scheduled job "${job.name}" ${how}: ${error}.${off}`;
  deps.ctx.logger[isSwitchedOff ? "error" : "warn"](`cron: ${text}`, { jobId: job.id });
  const { channel, to } = deps.config().failureAlert;
  try {
    const target = deps.agents().resolve(defined({ agentId: job.agentId }));
    const alert = { uid: `${job.state.runId}:alert`, ...target, text, to: { channel, to }, label: job.name };
    await deliverText(defined({ ...alert, origin: job.origin }), deps, signal);
  } catch (fault) {
    signal.throwIfAborted();
    deps.ctx.logger.error("cron: an alert could not be sent", { jobId: job.id, error: messageOf(fault) });
  }
}

interface Ended {
  end: End;
  /** Session of the run. */
  session?: { key: string; sessionId: string } | undefined;
  text?: string;
  ops?: Change["ops"];
  hasAlert?: boolean;
}

async function finish(job: Job, { end, session, text, ops = [], hasAlert }: Ended, firing: Firing): Promise<Job | undefined> {
  const { deps } = firing;
  const { runId = "", runningAtMs = end.at } = job.state;
  const summary = text === undefined || text.trim() === "" ? undefined : summaryOf(text);
  const { status, error, durationMs, at } = end;
  const entry: LogEntry = {
    ts: at,
    jobId: job.id,
    action: "finished",
    status,
    runId,
    runAtMs: runningAtMs,
    durationMs,
    ...defined({ error, summary }),
  };
  const sessionPut = session && {
    op: "kv.put" as const,
    scope: CRON_SCOPE,
    key: sessionRow(at, runId),
    value: { ...session, runId },
  };
  let isRemoved = false;
  const result = await stored(firing, job.id, (present) => {
    if (present.state.runId !== runId) return undefined; // stored already, or the job was begun anew
    const after = afterRun(present, end, deps.config().retry);
    const state = hasAlert ? { ...after.job.state, lastAlertAtMs: at } : after.job.state;
    isRemoved = after.isDone;
    return { job: { ...after.job, state }, isRemoved, entry, ops: [...ops, ...(sessionPut ? [sessionPut] : [])] };
  });
  const shown = result?.job ?? job;
  deps.tell(shown, "finished", entry);
  return isRemoved ? undefined : result?.job;
}

/** Row that remembers the session of a run, ordered by time. */
function sessionRow(at: number, runId: string): string {
  return `session/${String(at).padStart(15, "0")}/${runId}`;
}
