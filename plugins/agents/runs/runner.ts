import { randomUUID } from "node:crypto";
import { type GatewayService, messageOf, type RunHandle, type RunRequest, type RunRow, settledWithin, sleep } from "svc/sdk";
import { sharedErrors } from "svc/sdk/internal";
import { agentErrors } from "../errors.ts";
import { type Kit, runsOf } from "../kit.ts";
import { SingleRequests } from "../sessions/stateless.ts";
import { type AcceptOptions, acceptRun } from "./accept.ts";
import { isCutOff } from "./cut-off.ts";
import { executeRun } from "./execute.ts";
import type { AbortReason } from "./failure.ts";
import { fail } from "./finish.ts";
import { absorb, waitingRuns } from "./join.ts";
import { outcomeOf } from "./outcome.ts";
import { makeRoom } from "./queue.ts";
import { reviveRun } from "./revive.ts";
import type { Run } from "./run.ts";

/** A plugin's stop has 5 s; a run that does not end in time is found by the next start. */
const DRAIN_MS = 4_000;

/** Result of a request to run: a new run, one that is running under the same id, or one that has ended. */
export type Started = { state: "started" | "queued" | "in_flight"; run: Run } | { state: "finished"; row: RunRow };

/** Takes requests to run, and carries them to their end: accepted once per id, then one after the other in each session. */
export class Runner {
  readonly #kit: Kit;
  readonly #gateway: GatewayService;
  /** Acceptances under way, by run id. */
  readonly #accepting = new Map<string, Promise<Accepted>>();
  readonly #singles: SingleRequests;
  #isClosed = false;

  constructor(kit: Kit, gateway: GatewayService) {
    this.#kit = kit;
    this.#singles = new SingleRequests(kit);
    this.#gateway = gateway;
  }

  /** @throws {SvcError} see `Agents.run` */
  async start(request: RunRequest, options: AcceptOptions = {}): Promise<Started> {
    const runId = request.runId ?? randomUUID();
    // No wait between this look and the acceptance: two requests under one id must not both find nothing.
    const live = this.#kit.runs.get(runId);
    if (live) return { state: "in_flight", run: live };
    const others = this.#accepting.get(runId);
    if (others) return toStarted(await others);
    const fresh = options.fresh ?? (request.transcript === "fresh" ? "new" : undefined);
    const accepted = await this.#accept({ ...request, runId }, { ...options, ...(fresh ? { fresh } : {}) });
    if ("row" in accepted) return toStarted(accepted);
    const { run } = accepted;
    this.#tolerate(run, "its caller could not be told that it is accepted", () => options.accepted?.(run));
    if (run.mode === "interrupt") this.abortSession(run.sessionKey, "superseded", { except: run.id });
    const state = this.#enqueue(run);
    this.#kit.ctx.logger.debug("run accepted", () => {
      const { id: runId, agent, sessionKey, mode } = run;
      return { runId, agentId: agent.id, sessionKey, trigger: request.trigger, mode, state };
    });
    return { state, run };
  }

  /** Finds the run of a request under this id, if there was one; waits for one that is being accepted. */
  async known(runId: string): Promise<Started | undefined> {
    const before = await this.#current(runId);
    if (before) return toStarted(before);
    const row = await this.#kit.store().runs.get(runId);
    // It may have been accepted while its row was read, and is not over because it has one.
    const after = await this.#current(runId);
    return after ? toStarted(after) : row && { state: "finished", row };
  }

  /** A run that is not settled; waits for one that is being accepted. */
  async live(runId: string): Promise<Run | undefined> {
    const found = await this.#current(runId);
    return found && "run" in found ? found.run : undefined;
  }

  abort(run: Run, reason: AbortReason): boolean {
    if (!run.abort(reason)) return false;
    if (run.lead) {
      // Its message is part of a turn that goes on without it.
      run.lead.followers = run.lead.followers.filter((follower) => follower !== run);
      void fail(run, this.#kit, undefined);
    } else if (run.job && this.#kit.lanes.remove(run.job)) void fail(run, this.#kit, undefined);
    return true;
  }

  /** Waiting runs first, then the active one. @returns ids of what was stopped */
  abortSession(sessionKey: string, reason: AbortReason, { runId, except }: { runId?: string; except?: string } = {}): string[] {
    const chosen = runsOf(this.#kit, sessionKey).filter((r) => (runId === undefined || r.id === runId) && r.id !== except);
    return chosen
      .reverse()
      .filter((run) => this.abort(run, reason))
      .map((run) => run.id);
  }

  /** Takes no more runs. */
  close(): void {
    this.#isClosed = true;
  }

  /** Stops what is left and waits for its end. */
  async drain(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled([...this.#accepting.values()]);
    const left = [...this.#kit.runs.values()];
    for (const run of left) this.abort(run, "shutdown");
    await settledWithin(Promise.all(left.map((run) => run.done)), DRAIN_MS);
  }

  /** Accepts under an id, which is taken before the first wait: a second call with it that comes meanwhile must not find nothing either, and gets the same run. */
  #accept(request: RunRequest & { runId: string }, options: AcceptOptions): Promise<Accepted> {
    const work = this.#acceptOnce(request, options).finally(() => this.#accepting.delete(request.runId));
    this.#accepting.set(request.runId, work);
    return work;
  }

  async #acceptOnce(request: RunRequest & { runId: string }, options: AcceptOptions): Promise<Accepted> {
    const kit = this.#kit;
    const row = await kit.store().runs.get(request.runId);
    if (row && !(request.resume && isCutOff(row))) return { row };
    if (this.#isClosed) throw sharedErrors.draining({}, { retryAfterMs: 2_000 });
    const stage = this.#gateway.memoryStage();
    if (stage === "work" || stage === "restart") throw agentErrors.memoryPressure({}, { retryAfterMs: 5_000 });
    return { run: await (row ? reviveRun(row, { request, options }, kit) : acceptRun(request, options, kit)) };
  }

  /** A run that is at work, or is being accepted; its row when that is all there is of it. */
  async #current(runId: string): Promise<Accepted | undefined> {
    const run = this.#kit.runs.get(runId);
    return run ? { run } : this.#accepting.get(runId)?.catch(() => undefined);
  }

  #enqueue(run: Run): "started" | "queued" {
    const kit = this.#kit;
    this.#tolerate(run, "a stop of the gateway will not wait for it", () => {
      run.hold = this.#gateway.hold(`run ${run.id}`);
    });
    kit.ctx.tracing.keep(run.id);
    run.waited = runsOf(kit, run.sessionKey).some((other) => other !== run);
    run.job = {
      key: run.sessionKey,
      lane: run.request.lane ?? "main",
      isProgram: run.request.actor.kind === "http",
      start: () => takeTurn(run, kit).finally(() => this.#singles.ended(run)),
      onWait: (position) => this.#tolerate(run, "nobody is told that it waits", () => kit.events.queued(run, position)),
    };
    const isStarted = kit.lanes.enqueue(run.job);
    makeRoom(kit, run.sessionKey);
    return isStarted ? "started" : "queued";
  }

  /** The run is stored as accepted: what fails before it is in its lane must not leave it waiting for ever. */
  #tolerate(run: Run, consequence: string, step: () => void): void {
    try {
      step();
    } catch (error) {
      this.#kit.ctx.logger.error(`run ${run.id}: ${consequence}`, { error: messageOf(error) });
    }
  }
}

/** Result of an acceptance: the run, or the row of one that is over. */
type Accepted = { run: Run } | { row: RunRow };

function toStarted(accepted: Accepted): Started {
  return "run" in accepted ? { state: "in_flight", run: accepted.run } : { state: "finished", row: accepted.row };
}

/** The run as other plugins see it. */
export function toHandle(started: Started, runner: Runner): RunHandle {
  if (started.state === "finished") return finishedHandle(started.row);
  const { run, state } = started;
  return {
    runId: run.id,
    sessionKey: run.sessionKey,
    sessionId: run.sessionId,
    agentId: run.agent.id,
    acceptedAt: run.acceptedAt,
    state,
    events: () => run.log.read(),
    done: run.done,
    abort: (reason) => void runner.abort(run, reason),
  };
}

function finishedHandle(row: RunRow): RunHandle {
  const outcome = outcomeOf(row);
  const { runId, sessionKey, sessionId, agentId } = row;
  const phase = outcome.status === "ok" ? "end" : "error";
  const data = { phase, startedAt: row.startedAt, endedAt: row.endedAt, stopReason: outcome.stopReason, error: outcome.error };
  return {
    runId,
    sessionKey,
    sessionId,
    agentId,
    acceptedAt: row.createdAt,
    state: "finished",
    async *events() {
      yield { runId, seq: 1, stream: "lifecycle" as const, ts: row.endedAt ?? row.createdAt, sessionKey, agentId, sessionId, data };
    },
    done: Promise.resolve(outcome),
    abort: () => undefined,
  };
}

/** The turn of a run whose place in the lane has come, with the messages that joined it. Never rejects. */
async function takeTurn(run: Run, kit: Kit): Promise<void> {
  if (run.waited && run.mode === "collect") {
    await quiet(run, kit);
    if (run.aborted) return fail(run, kit, undefined);
    const others = waitingRuns(kit, run.sessionKey).filter((next) => next !== run);
    for (const next of others) if (next.mode !== "collect" || !absorb(run, next, kit)) break;
  }
  await executeRun(run, kit);
}

/** Until nobody has written for `messages.queue.debounceMs`, as many wait as may, or the run is stopped. */
async function quiet(run: Run, kit: Kit): Promise<void> {
  for (;;) {
    const { cap, debounceMs } = kit.config.messages.queue;
    const waiting = waitingRuns(kit, run.sessionKey).filter((r) => r !== run && r.mode === "collect");
    const last = waiting.at(-1)?.arrivedAt ?? run.arrivedAt;
    const leftMs = last + debounceMs - kit.ctx.clock.monotonic();
    if (leftMs <= 0 || waiting.length >= cap || run.signal.aborted) return;
    await sleep(Math.ceil(leftMs), run.signal, kit.ctx.timers).catch(() => undefined);
  }
}
