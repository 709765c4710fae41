import { setImmediate as nextTurn } from "node:timers/promises";
import { messageOf, type OpResult, type StoreOp } from "svc/sdk";
import { reached, timeOrderedId } from "svc/sdk/internal";
import type { Action, AgentAction, WakeAction } from "../action.ts";
import type { DeliveryDeps } from "./delivery-deps.ts";
import { aboutOf, encodeAction } from "./stored-action.ts";

/** Scope and key under which a repeat of an agent action is the same action. */
export interface IdempotencyKey {
  /** Identity of the caller and path; no secret in it. */
  scope: string;
  /** 1–256 characters; of a fan-out with the place of the item. */
  key: string;
}

/** An action that is to be made durable. */
export interface Submission {
  action: Action;
  /** Idempotency key of agent actions; wakes have none. */
  idempotency?: IdempotencyKey;
}

/** Result of an accepted delivery. */
export type Accepted =
  | { kind: "agent"; runId: string; isReplay: boolean }
  | { kind: "wake"; mode: "now" | "next-heartbeat"; eventOutcome: "queued" | "coalesced" };

/** Maximum age of accepted work. */
export const EXPIRY_MS = 24 * 3_600_000;

/** Actions that are encoded between two turns of the event loop. */
const PLANNED_IN_A_TURN = 8;

/** A submission as operations, and how their results are read. */
interface Planned {
  ops: StoreOp[];
  read(results: readonly OpResult[]): Accepted;
}

export interface AcceptOptions {
  deps: DeliveryDeps;
  /** Called once all of it is durable, before its sender is answered. */
  onAccepted(accepted: readonly Accepted[]): void;
}

/** All of a request in one commit; see `Deliveries.accept`. */
export async function acceptAll(submissions: readonly Submission[], { deps, onAccepted }: AcceptOptions): Promise<Accepted[]> {
  const planned: Planned[] = [];
  for (const submission of submissions) {
    // Each action may be large: others get their turn between some of them.
    if (planned.length > 0 && planned.length % PLANNED_IN_A_TURN === 0) await nextTurn();
    planned.push(plan(submission, deps));
  }
  await reached("hooks.before-accept");
  const results = await deps.store().commit(planned.flatMap(({ ops }) => ops));
  await reached("hooks.after-accept");
  let at = 0;
  const accepted = planned.map(({ ops, read }) => {
    const own = results.slice(at, at + ops.length);
    at += ops.length;
    return read(own);
  });
  for (const { action } of submissions) if (action.kind === "wake" && action.mode === "now") wake(action, deps);
  onAccepted(accepted);
  return accepted;
}

function plan({ action, idempotency }: Submission, deps: DeliveryDeps): Planned {
  return action.kind === "wake" ? planWake(action, deps) : planAgent(action, idempotency, deps);
}

function planAgent(action: AgentAction, idempotency: Submission["idempotency"], deps: DeliveryDeps): Planned {
  const at = deps.ctx.clock.now();
  const uid = timeOrderedId(at);
  const key = idempotency && { idemScope: idempotency.scope, idemKey: idempotency.key, fingerprint: action.fingerprint };
  const delivery = { uid, dir: "hook-agent" as const, lane: action.sessionKey, ...key, expiresAt: at + EXPIRY_MS };
  return {
    ops: [{ op: "delivery.accept", delivery: { ...delivery, payload: encodeAction(action) }, at }],
    read: ([result]) => ({ kind: "agent", runId: result?.known?.uid ?? uid, isReplay: result?.known !== undefined }),
  };
}

/** The event and the row that says so are one commit: a wake is exactly once. */
function planWake(action: WakeAction, deps: DeliveryDeps): Planned {
  const at = deps.ctx.clock.now();
  const { agentId, sessionKey: named, text, same, mode } = action;
  const { sessionKey } = deps.agents().resolve({ agentId, ...(named === undefined ? {} : { sessionKey: named }) });
  const event = { sessionKey, text, same, source: "hook", ts: at, wake: mode === "now" };
  const done = { status: "ok", mode, about: aboutOf(action) };
  const delivery = { uid: timeOrderedId(at), dir: "hook-wake" as const, lane: sessionKey, expiresAt: at + EXPIRY_MS, payload: {}, done };
  return {
    ops: [
      { op: "systemEvent.add", event },
      { op: "delivery.accept", delivery, at },
    ],
    read: ([result]) => ({ kind: "wake", mode, eventOutcome: result?.coalesced ? "coalesced" : "queued" }),
  };
}

/** Wakes the agent. A durable event stays accepted even if no heartbeat follows: it asks for one again at the next start. */
function wake({ agentId, sessionKey }: WakeAction, deps: DeliveryDeps): void {
  try {
    deps.agents().wake({ agentId, ...(sessionKey === undefined ? {} : { sessionKey }), reason: "hook", mode: "now" });
  } catch (error) {
    deps.ctx.logger.warn("a wake was stored, but no agent could be woken", { agentId, error: messageOf(error) });
  }
}
