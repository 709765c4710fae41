import type { OpResult, StoreOp } from "../types/store.ts";
import type { DeliveryRow, DeliveryState, RunRow, SessionRow } from "../types/store-rows.ts";

/** A delivery as the model keeps it: the id is given by the store. */
export type ModelDelivery = Omit<DeliveryRow, "id">;

type DeliveryOp = Extract<StoreOp, { op: `delivery.${string}` }>;

const claimable: readonly DeliveryState[] = ["accepted", "uncertain"];
const owned: readonly DeliveryState[] = ["running", "sending"];

/** The contract of `Store.commit` in plain maps: results and rows that any store must have. Limits of size and time are not part of it. */
export class StoreModel {
  sessions = new Map<string, SessionRow>();
  /** Ids of messages by transcript. */
  messages = new Map<string, string[]>();
  runs = new Map<string, RunRow>();
  /** Idempotency rows and values, by kind and key. */
  values = new Map<string, unknown>();
  /** Texts of events by session. */
  events = new Map<string, string[]>();
  /** Oldest first. */
  deliveries: ModelDelivery[] = [];

  /** Result of each operation, without versions; or the code that the commit is refused with, which leaves nothing. */
  commit(ops: readonly StoreOp[]): OpResult[] | string {
    const before = structuredClone({ ...this });
    const results: OpResult[] = [];
    for (const op of ops) {
      const result = this.#apply(op);
      if (typeof result === "string") {
        Object.assign(this, before);
        return result;
      }
      results.push(result);
    }
    return results;
  }

  delivery(uid: string): ModelDelivery | undefined {
    return this.deliveries.find((row) => row.uid === uid);
  }

  #apply(op: StoreOp): OpResult | string {
    switch (op.op) {
      case "session.put":
        return this.#putSession(op);
      case "session.patch":
        return this.#patchSession(op);
      case "session.delete": {
        const present = this.sessions.get(op.key);
        if (op.expectedSessionId !== undefined && present?.sessionId !== op.expectedSessionId) return "session-changed";
        if (op.ifNoEvents && this.events.has(op.key)) return "events-waiting";
        if (present && op.deleteTranscript) this.messages.delete(present.sessionId);
        this.events.delete(op.key);
        return { removed: Number(this.sessions.delete(op.key)) };
      }
      case "message.append": {
        const transcript = this.messages.get(op.message.sessionId) ?? [];
        if (transcript.includes(op.message.id)) return "exists";
        this.messages.set(op.message.sessionId, [...transcript, op.message.id]);
        return { seq: transcript.length + 1 };
      }
      case "transcript.prune": {
        if ([...this.sessions.values()].some((present) => present.sessionId === op.sessionId)) return { removed: 0 };
        const removed = this.messages.get(op.sessionId)?.length ?? 0;
        this.messages.delete(op.sessionId);
        return { removed };
      }
      case "run.put": {
        const present = this.runs.get(op.run.runId);
        if (op.ifAbsent && present) return "exists";
        if (op.ifState && !(present && op.ifState.includes(present.state))) return "run-state";
        if (op.ifOwner !== undefined && present?.bootId !== op.ifOwner) return "fenced";
        this.runs.set(op.run.runId, op.run);
        return {};
      }
      case "run.delete": {
        const state = this.runs.get(op.runId)?.state;
        if (state === "queued" || state === "running") return "run-state";
        return { removed: Number(this.runs.delete(op.runId)) };
      }
      case "idempotency.put": {
        const key = `idempotency ${op.row.family} ${op.row.key}`;
        if (op.ifAbsent && this.values.has(key)) return "exists";
        this.values.set(key, op.row);
        return {};
      }
      case "kv.put": {
        const key = `kv ${op.scope} ${op.key}`;
        if (op.ifAbsent && this.values.has(key)) return "exists";
        this.values.set(key, op.value);
        return {};
      }
      case "kv.delete":
        return { removed: Number(this.values.delete(`kv ${op.scope} ${op.key}`)) };
      case "systemEvent.add": {
        const waiting = this.events.get(op.event.sessionKey) ?? [];
        if (waiting.at(-1) === op.event.text) return { coalesced: true };
        this.events.set(op.event.sessionKey, [...waiting, op.event.text]);
        return {};
      }
      case "systemEvent.take":
        throw new Error("the model gives events no ids");
      default:
        return this.#applyDelivery(op);
    }
  }

  #putSession(op: Extract<StoreOp, { op: "session.put" }>): OpResult | string {
    const present = this.sessions.get(op.session.key);
    if (op.ifAbsent && present) return "exists";
    if (op.expectedSessionId !== undefined && present?.sessionId !== op.expectedSessionId) return "session-changed";
    if (op.uniqueLabel && this.#isLabelTaken(op.session)) return "label-in-use";
    this.sessions.set(op.session.key, op.session);
    return {};
  }

  #patchSession(op: Extract<StoreOp, { op: "session.patch" }>): OpResult | string {
    const present = this.sessions.get(op.key);
    if (!present) return "session-missing";
    if (op.expectedSessionId !== undefined && present.sessionId !== op.expectedSessionId) return "session-changed";
    const merged = Object.entries({ ...present, ...op.patch }).filter(([, value]) => value !== null);
    const next = Object.fromEntries(merged) as unknown as SessionRow;
    for (const name of ["inputTokens", "outputTokens", "totalTokens", "costNanos"] as const) {
      const added = op.add?.[name];
      if (added !== undefined) next[name] = Math.max(0, (next[name] ?? 0) + added);
    }
    if (op.uniqueLabel && this.#isLabelTaken(next)) return "label-in-use";
    this.sessions.set(op.key, next);
    return {};
  }

  #isLabelTaken({ key, agentId, label }: SessionRow): boolean {
    return (
      label !== undefined && [...this.sessions.values()].some((row) => row.key !== key && row.agentId === agentId && row.label === label)
    );
  }

  #applyDelivery(op: DeliveryOp): OpResult | string {
    if (op.op === "delivery.accept") return this.#accept(op);
    const row = this.delivery(op.uid);
    switch (op.op) {
      case "delivery.claim":
        if (!row || !claimable.includes(row.state)) return "delivery-state";
        if (op.attempt !== undefined && row.attempt !== op.attempt) return "fenced";
        Object.assign(row, { state: op.to, attempt: row.attempt + 1, leaseBoot: op.leaseBoot, notBefore: undefined, updatedAt: op.at });
        return {};
      case "delivery.step":
        if (!row || !owned.includes(row.state)) return "delivery-state";
        if (row.leaseBoot !== op.leaseBoot || row.attempt !== op.attempt) return "fenced";
        Object.assign(row, { steps: { ...row.steps, [op.step]: op.value }, updatedAt: op.at });
        return {};
      case "delivery.requeue": {
        const refused = refusalOf(row, op);
        if (refused !== undefined || !row) return refused ?? "delivery-state";
        if (row.payload === undefined) return "delivery-state";
        const { to = "accepted", notBefore, attempt = row.attempt, expiresAt = row.expiresAt, result = row.result, at } = op;
        Object.assign(row, { state: to, notBefore, attempt, expiresAt, result, leaseBoot: undefined, updatedAt: at });
        return {};
      }
      case "delivery.finish": {
        const refused = refusalOf(row, op);
        if (refused !== undefined || !row) return refused ?? "delivery-state";
        const { state, result, at } = op;
        Object.assign(row, { state, result, leaseBoot: undefined, notBefore: undefined, updatedAt: at });
        if (state === "done") delete row.payload;
        return {};
      }
    }
  }

  #accept({ delivery: { done, ...delivery }, at }: Extract<DeliveryOp, { op: "delivery.accept" }>): OpResult | string {
    const { idemScope, idemKey, fingerprint } = delivery;
    const isKnown = (row: ModelDelivery) =>
      idemKey !== undefined && row.idemScope === idemScope && row.idemKey === idemKey && row.fingerprint === fingerprint;
    const known = this.deliveries.find(isKnown);
    if (known) return { known: structuredClone(known) as DeliveryRow };
    if (this.delivery(delivery.uid)) return "exists";
    const { payload, ...rest } = { ...delivery, attempt: 0, steps: {}, createdAt: at, updatedAt: at };
    this.deliveries.push(done ? { ...rest, state: "done", result: done } : { ...rest, state: "accepted", payload });
    return {};
  }
}

function refusalOf(
  row: ModelDelivery | undefined,
  { from, owner }: Extract<StoreOp, { op: "delivery.requeue" | "delivery.finish" }>,
): string | undefined {
  if (!row || !from.includes(row.state)) return "delivery-state";
  if (!owner) return owned.includes(row.state) && row.leaseBoot !== undefined ? "fenced" : undefined;
  if (row.leaseBoot !== owner.leaseBoot || row.attempt !== owner.attempt) return "fenced";
  return undefined;
}
