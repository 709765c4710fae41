import type { StoreOp } from "../types/store.ts";
import type { DeliveryState, MessageRow, NewDelivery, RunRow, RunState, SessionRow } from "../types/store-rows.ts";

/** Pseudo-random choices that a seed repeats. */
export interface Choices {
  /** Whole number from 0 to `below` - 1. */
  number(below: number): number;
  of<T>(values: readonly T[]): T;
  /** True once in `times`. */
  once(times: number): boolean;
}

/** mulberry32: 32 bits of state, enough for test cases. */
export function createChoices(seed: number): Choices {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const number = (below: number) => Math.floor(next() * below);
  return { number, of: (values) => values[number(values.length)] as (typeof values)[number], once: (times) => number(times) === 0 };
}

export const letters = ["a", "b", "c"] as const;
export const deliveryStates: readonly DeliveryState[] = ["accepted", "running", "sending", "uncertain", "done", "failed", "expired"];
const runStates: readonly RunState[] = ["queued", "running", "ok", "error", "aborted", "timeout", "interrupted"];
const texts = ["", "plain", "ä 🙂", "quote ' and \"", "line\nbreak", "%_\\"];

export function sampleSession(key: string, fields: Partial<SessionRow> = {}): SessionRow {
  return {
    key,
    sessionId: `transcript-of-${key}`,
    agentId: "main",
    kind: "direct",
    createdAt: 1,
    updatedAt: 1,
    sessionStartedAt: 1,
    inputTokens: 0,
    outputTokens: 0,
    totalTokens: 0,
    archived: false,
    pinned: false,
    unread: false,
    ...fields,
  };
}

export function sampleRun(runId: string, fields: Partial<RunRow> = {}): RunRow {
  return {
    runId,
    sessionKey: "k",
    sessionId: "s",
    agentId: "main",
    state: "queued",
    trigger: "test",
    bootId: "b1",
    createdAt: 1,
    ...fields,
  };
}

export function sampleMessage(id: string, sessionId: string): Omit<MessageRow, "seq"> {
  return { id, sessionId, ts: 1, role: "user", content: [{ type: "text", text: `text of ${id}` }] };
}

export function sampleDelivery(uid: string, fields: Partial<NewDelivery> = {}): NewDelivery {
  return { uid, dir: "hook-agent", lane: `lane of ${uid}`, payload: { text: `payload of ${uid}` }, expiresAt: 1_000_000, ...fields };
}

/** One operation on the few rows of a world; half of them on deliveries, where most conditions are. */
export function anyOp(choices: Choices, world: string): StoreOp {
  if (choices.once(2)) return anyDeliveryOp(choices, world);
  const key = `${world}/k${choices.of(letters)}`;
  const sessionId = `${world}/t${choices.of(letters)}`;
  const maybe = <T extends object>(fields: T): T | Record<string, never> => (choices.once(3) ? fields : {});
  const kinds: ReadonlyArray<() => StoreOp> = [
    () => {
      const session = sampleSession(key, {
        // Labels belong to an agent, and worlds must not meet.
        agentId: world,
        sessionId,
        updatedAt: choices.number(1_000),
        archived: choices.once(4),
        ...maybe({ label: choices.of(texts) }),
        ...maybe({ lastInteractionAt: choices.number(1_000) }),
      });
      return {
        op: "session.put",
        session,
        ...maybe({ ifAbsent: choices.once(2) }),
        ...maybe({ expectedSessionId: `${world}/t${choices.of(letters)}` }),
        ...maybe({ uniqueLabel: true }),
      };
    },
    () => ({
      op: "session.patch",
      key,
      patch: { unread: choices.once(2), ...maybe({ label: choices.once(3) ? null : choices.of(texts) }) },
      ...maybe({
        add: { inputTokens: choices.number(20) - 5, totalTokens: choices.number(9), ...maybe({ costNanos: choices.number(30) - 9 }) },
      }),
      ...maybe({ expectedSessionId: sessionId }),
      ...maybe({ uniqueLabel: true }),
    }),
    () => ({
      op: "session.delete",
      key,
      deleteTranscript: choices.once(2),
      ...maybe({ expectedSessionId: sessionId }),
      ...maybe({ ifNoEvents: true }),
    }),
    () => ({ op: "message.append", message: sampleMessage(String(choices.number(12)), sessionId) }),
    () => ({ op: "message.append", message: sampleMessage(String(choices.number(12)), sessionId) }),
    () => ({ op: "transcript.prune", sessionId }),
    () => ({
      op: "run.put",
      run: sampleRun(`${world}/r${choices.of(letters)}`, { state: choices.of(runStates), bootId: choices.of(["b1", "b2"]) }),
      ...maybe({ ifAbsent: choices.once(2) }),
      ...maybe({ ifState: [choices.of(runStates), choices.of(runStates)] }),
      ...maybe({ ifOwner: choices.of(["b1", "b2"]) }),
    }),
    () => ({ op: "run.delete", runId: `${world}/r${choices.of(letters)}` }),
    () => ({
      op: "idempotency.put",
      row: { family: "f", key: `${world}${choices.of(letters)}`, value: { n: choices.number(9) }, createdAt: 1, expiresAt: 2 },
      ...maybe({ ifAbsent: choices.once(2) }),
    }),
    () => ({
      op: "kv.put",
      scope: world,
      key: `k${choices.of(letters)}`,
      value: choices.of([null, 0, "", [1, "two"], { three: { four: 5 } }]),
      ...maybe({ ifAbsent: choices.once(2) }),
    }),
    () => ({ op: "kv.delete", scope: world, key: `k${choices.of(letters)}` }),
    () => ({
      op: "systemEvent.add",
      event: { sessionKey: key, text: `event ${choices.of(letters)}`, source: "test", ts: 1, wake: false },
    }),
  ];
  return choices.of(kinds)();
}

/** An operation on three deliveries in two lanes of a world. */
function anyDeliveryOp(choices: Choices, world: string): StoreOp {
  const uid = `${world}/d${choices.of(letters)}`;
  const at = choices.number(1_000);
  const boot = () => choices.of(["b1", "b2"]);
  const small = () => ({ n: choices.number(9) });
  const maybe = <T extends object>(fields: T): T | Record<string, never> => (choices.once(3) ? fields : {});
  // Mostly all states, so that sequences get past the first condition.
  const from = () => (choices.once(2) ? deliveryStates : deliveryStates.filter(() => choices.once(2)));
  const owner = () => (choices.once(2) ? { owner: { leaseBoot: boot(), attempt: choices.number(4) } } : {});
  const accept = (): StoreOp => ({
    op: "delivery.accept",
    delivery: {
      uid,
      lane: `${world}/${choices.of(["x", "y"])}`,
      dir: choices.of(["hook-agent", "out"]),
      payload: small(),
      expiresAt: choices.number(2_000),
      ...maybe({ idemKey: choices.of(["k1", "k2"]), idemScope: world, fingerprint: "f" }),
      ...(choices.once(6) ? { done: small() } : {}),
    },
    at,
  });
  const claim = (): StoreOp => ({
    op: "delivery.claim",
    uid,
    to: choices.of(["running", "sending"]),
    leaseBoot: boot(),
    at,
    ...maybe({ attempt: choices.number(2) }),
  });
  const kinds: ReadonlyArray<() => StoreOp> = [
    accept,
    accept,
    claim,
    claim,
    () => ({
      op: "delivery.step",
      uid,
      leaseBoot: boot(),
      attempt: choices.number(3),
      step: choices.of(["run", "summary"]),
      value: small(),
      at,
    }),
    () => ({
      op: "delivery.requeue",
      uid,
      from: from(),
      at,
      ...owner(),
      ...maybe({ to: choices.of(["accepted", "uncertain"] as const) }),
      ...maybe({ notBefore: choices.number(1_000) }),
      ...maybe({ attempt: choices.number(3) }),
      ...maybe({ result: small() }),
    }),
    () => ({
      op: "delivery.finish",
      uid,
      from: from(),
      state: choices.of(["done", "failed", "expired"]),
      result: small(),
      at,
      ...owner(),
    }),
  ];
  return choices.of(kinds)();
}
