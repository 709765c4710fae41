import { commonErrors, type Disposable, type Logger, messageOf, type StoreChange } from "svc/sdk";
import type { WriteOp } from "./operations.ts";

const maxListeners = 1_000;
const maxKeys = 1_000;

export type Kind = StoreChange["kind"];
type Listener = (change: StoreChange | "resync") => void;

/**
 * The change feed of `Store.changes`. Commits that are stored together make one change per kind; nothing is collected while nobody listens, and nothing waits for a
 * listener.
 */
export interface ChangeFeed {
  subscribe(listener: Listener): Disposable;
  /** Announces what another gateway has stored. */
  announce(change: StoreChange): void;
  /** Called with the operations of each stored commit, before its caller hears of it. */
  stored(ops: readonly WriteOp[]): void;
  /** Changes may have been missed. */
  resync(): void;
}

export function createChangeFeed(logger: Logger): ChangeFeed {
  const listeners = new Set<Listener>();
  let changed: Map<Kind, Set<string>> | undefined;
  let isOverfull = false;

  const emit = (change: StoreChange | "resync") => {
    for (const listener of [...listeners]) {
      // One that was removed by an earlier one is not called any more.
      if (!listeners.has(listener)) continue;
      try {
        listener(change);
      } catch (error) {
        logger.warn("a listener to changes of the state failed", { error: messageOf(error) });
      }
    }
  };
  const flush = () => {
    const kinds = changed;
    const mustResync = isOverfull;
    changed = undefined;
    isOverfull = false;
    if (mustResync) return emit("resync");
    for (const [kind, keys] of kinds ?? []) emit({ kind, keys: [...keys] });
  };
  const add = (kind: Kind, key: string) => {
    // The commits of a group are settled in one go; callers continue after this microtask.
    if (!changed) {
      changed = new Map();
      queueMicrotask(flush);
    }
    const keys = changed.get(kind) ?? new Set();
    changed.set(kind, keys.add(key));
    if (keys.size > maxKeys) isOverfull = true;
  };

  return {
    subscribe(listener) {
      if (listeners.size >= maxListeners) throw commonErrors.busy({}, { retryAfterMs: 5_000 });
      // The same function may be subscribed twice, and each subscription ends by itself.
      const own: Listener = (change) => listener(change);
      listeners.add(own);
      return { dispose: () => void listeners.delete(own) };
    },
    stored(ops) {
      if (listeners.size === 0) return;
      for (const op of ops) {
        const [kind, key] = changeOf(op) ?? [];
        if (kind !== undefined && key !== undefined) add(kind, key);
      }
    },
    announce: emit,
    resync: () => emit("resync"),
  };
}

/** Row that an operation may have changed; undefined for what nobody waits for. */
export function changeOf(op: WriteOp): [Kind, string] | undefined {
  switch (op.op) {
    case "session.put":
      return ["sessions", String(op.row.key)];
    case "session.patch":
    case "session.delete":
      return ["sessions", op.key];
    case "message.append":
    case "transcript.prune":
      return ["messages", op.sessionId];
    case "run.put":
      return ["runs", String(op.row.run_id)];
    case "run.delete":
      return ["runs", op.runId];
    case "kv.put":
    case "kv.delete":
      return ["kv", op.scope];
    case "systemEvent.add":
      return ["systemEvents", op.sessionKey];
    case "delivery.accept":
      return ["deliveries", String(op.row.uid)];
    case "delivery.claim":
    case "delivery.step":
    case "delivery.requeue":
    case "delivery.finish":
      return ["deliveries", op.uid];
    // Only the id of an event is known here; who adds one is heard of. The others change no row.
    case "systemEvent.take":
    case "idempotency.put":
    case "lease.acquire":
    case "lease.release":
    case "lease.check":
      return undefined;
  }
}
