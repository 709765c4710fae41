import fc from "fast-check";
import type { OpResult, RunRow, RunState, SessionRow, StoreOp } from "svc/sdk";
import { expect, onTestFinished, test } from "vitest";
import { anyDeliveryOp, DeliveriesModel } from "../../test/fixtures/deliveries-model.ts";
import type { OpenStore } from "./open-store.ts";
import { message, run, session, tempStore } from "./testing/temp-store.ts";

/** The contract in plain maps: what the store must do, without a database. */
class Model {
  sessions = new Map<string, SessionRow>();
  messages = new Map<string, string[]>();
  runs = new Map<string, RunRow>();
  values = new Map<string, unknown>();
  events = new Map<string, string[]>();
  deliveries = new DeliveriesModel();

  commit(ops: StoreOp[]): OpResult[] | string {
    const before = structuredClone({ ...this, deliveries: this.deliveries.rows });
    const results: OpResult[] = [];
    for (const op of ops) {
      const result = this.#apply(op);
      if (typeof result === "string") {
        Object.assign(this, before, { deliveries: new DeliveriesModel(before.deliveries) });
        return result;
      }
      results.push(result);
    }
    return results;
  }

  #apply(op: StoreOp): OpResult | string {
    switch (op.op) {
      case "session.put": {
        const present = this.sessions.get(op.session.key);
        if (op.ifAbsent && present) return "exists";
        if (op.expectedSessionId !== undefined && present?.sessionId !== op.expectedSessionId) return "session-changed";
        this.sessions.set(op.session.key, op.session);
        return {};
      }
      case "session.patch": {
        const present = this.sessions.get(op.key);
        if (!present) return "session-missing";
        if (op.expectedSessionId !== undefined && present.sessionId !== op.expectedSessionId) return "session-changed";
        const merged = { ...present, ...op.patch };
        this.sessions.set(
          op.key,
          Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null)) as unknown as SessionRow,
        );
        return {};
      }
      case "session.delete": {
        const present = this.sessions.get(op.key);
        if (op.expectedSessionId !== undefined && present?.sessionId !== op.expectedSessionId) return "session-changed";
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
        this.runs.set(op.run.runId, op.run);
        return {};
      }
      case "idempotency.put": {
        const key = `idempotency ${op.row.family} ${op.row.key}`;
        if (op.ifAbsent && this.values.has(key)) return "exists";
        this.values.set(key, op.row);
        return {};
      }
      case "kv.put":
        this.values.set(`kv ${op.scope} ${op.key}`, op.value);
        return {};
      case "systemEvent.add": {
        const waiting = this.events.get(op.event.sessionKey) ?? [];
        if (waiting.at(-1) === op.event.text) return { coalesced: true };
        this.events.set(op.event.sessionKey, [...waiting, op.event.text]);
        return {};
      }
      case "systemEvent.take":
        return { removed: 0 };
      case "delivery.accept":
      case "delivery.claim":
      case "delivery.step":
      case "delivery.requeue":
      case "delivery.finish":
        return this.deliveries.apply(op);
      case "kv.delete":
        return { removed: Number(this.values.delete(`kv ${op.scope} ${op.key}`)) };
    }
  }
}

const some = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const name = (prefix: string) => fc.constantFrom("a", "b", "c").map((letter) => `${prefix}${letter}`);
const state = fc.constantFrom<RunState>("queued", "running", "ok", "error", "aborted", "timeout", "interrupted");
const text = fc.string({ unit: "grapheme", maxLength: 12 });

/** Stands in every key for the name of the case, so that all cases share one store. */
const world = "«world»";

function inWorld(commits: StoreOp[][], named: string): StoreOp[][] {
  return JSON.parse(JSON.stringify(commits).replaceAll(world, named)) as StoreOp[][];
}

function anyOp(): fc.Arbitrary<StoreOp> {
  const key = name(`${world}/k`);
  const sessionId = name(`${world}/t`);
  const condition = fc.record({ ifAbsent: some(fc.boolean()), expectedSessionId: some(sessionId) }).map(present);
  const row = fc.record({ label: some(text), updatedAt: fc.nat(), lastInteractionAt: some(fc.nat()), archived: fc.boolean() }).map(present);
  return fc.oneof(
    fc.tuple(key, sessionId, row, condition).map(([k, s, fields, when]): StoreOp => {
      return { op: "session.put", session: session(k, { ...fields, sessionId: s }), ...when };
    }),
    fc.tuple(key, fc.record({ unread: fc.boolean(), label: fc.option(text) }), some(sessionId)).map(([k, patch, expected]): StoreOp => {
      return { op: "session.patch", key: k, patch, ...(expected === undefined ? {} : { expectedSessionId: expected }) };
    }),
    sessionId.map((s): StoreOp => ({ op: "transcript.prune", sessionId: s })),
    fc.tuple(key, fc.boolean(), some(sessionId)).map(([k, deleteTranscript, expected]): StoreOp => {
      return { op: "session.delete", key: k, deleteTranscript, ...(expected === undefined ? {} : { expectedSessionId: expected }) };
    }),
    fc.tuple(fc.nat(12), sessionId).map(([id, s]): StoreOp => ({ op: "message.append", message: message(`${id}`, { sessionId: s }) })),
    fc.tuple(name(`${world}/r`), state, some(fc.boolean()), some(fc.array(state))).map(([id, now, ifAbsent, ifState]): StoreOp => {
      return { op: "run.put", run: run(id, { state: now }), ...present({ ifAbsent, ifState }) };
    }),
    fc.tuple(name(world), fc.nat(), some(fc.boolean())).map(([k, n, ifAbsent]): StoreOp => {
      return { op: "idempotency.put", row: { family: "f", key: k, value: { n }, createdAt: n, expiresAt: n }, ...present({ ifAbsent }) };
    }),
    fc.tuple(name("k"), fc.jsonValue()).map(([k, value]): StoreOp => ({ op: "kv.put", scope: world, key: k, value })),
    name("k").map((k): StoreOp => ({ op: "kv.delete", scope: world, key: k })),
    fc.tuple(key, name("event ")).map(([k, what]): StoreOp => {
      return { op: "systemEvent.add", event: { sessionKey: k, text: what, source: "test", ts: 1, wake: false } };
    }),
    ...anyDeliveryOp(world),
  );
}

type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> };
function present<T extends object>(fields: T): Present<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Present<T>;
}

async function outcomeOf(commit: Promise<OpResult[]>): Promise<OpResult[] | string> {
  return commit.catch((error: { code: string }) => error.code);
}

function expectSame(store: OpenStore, model: Model, named: string): void {
  for (const letter of ["a", "b", "c"]) {
    expect(store.sessions.get(`${named}/k${letter}`)).toEqual(model.sessions.get(`${named}/k${letter}`));
    const transcript = model.messages.get(`${named}/t${letter}`) ?? [];
    expect(store.messages.page(`${named}/t${letter}`, { limit: 1_000 }).map((row) => row.id)).toEqual(transcript);
    expect(store.messages.count(`${named}/t${letter}`)).toBe(transcript.length);
    expect(store.systemEvents.pending(`${named}/k${letter}`, 1_000).map((row) => row.text)).toEqual(
      model.events.get(`${named}/k${letter}`) ?? [],
    );
    expect(store.runs.get(`${named}/r${letter}`)).toEqual(model.runs.get(`${named}/r${letter}`));
    expect(store.idempotency.get("f", `${named}${letter}`)).toEqual(model.values.get(`idempotency f ${named}${letter}`));
    expect(store.kv.get(named, `k${letter}`)).toEqual(model.values.get(`kv ${named} k${letter}`));
  }
  model.deliveries.expectSame(store, named);
  const keys = [...model.sessions.values()].sort((a, b) => b.updatedAt - a.updatedAt || (a.key < b.key ? -1 : 1)).map((row) => row.key);
  expect(store.sessions.list({ limit: 100, search: `${named}/` }).rows.map((row) => row.key)).toEqual(keys);
}

test("any sequence of commits has the results and leaves the rows of a simple model", { timeout: 60_000 }, async () => {
  // At this time no row is old enough to be dropped.
  const store = await tempStore(onTestFinished).open({ clock: { now: () => 0, monotonic: () => performance.now() } });
  let worlds = 0;

  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(anyOp(), { maxLength: 4 }), { maxLength: 30 }), async (anywhere) => {
      const named = `w${++worlds}`;
      const commits = inWorld(anywhere, named);
      const model = new Model();
      const expected = commits.map((ops) => model.commit(structuredClone(ops)));

      const found = await Promise.all(commits.map((ops) => outcomeOf(store.commit(ops))));

      expect(found).toEqual(expected);
      expectSame(store, model, named);
    }),
    { numRuns: 150 },
  );
});
