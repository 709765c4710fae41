import type { OpResult } from "svc/sdk";
import { sizeOfOp, type WriteOp } from "./operations.ts";
import { type PlainRefusal, Refusal } from "./refusal.ts";

/** Outcome of one commit of a group. */
export type CommitOutcome = { results: OpResult[] } | { refused: PlainRefusal };

/** Limits of one transaction and of all that waits. */
export interface QueueLimits {
  groupCommits: number;
  groupOps: number;
  groupBytes: number;
  waitingOps: number;
  waitingBytes: number;
}

export const queueLimits: QueueLimits = {
  groupCommits: 64,
  groupOps: 1_000,
  groupBytes: 1_000_000,
  waitingOps: 10_000,
  waitingBytes: 256 * 1024 * 1024,
};

/** A commit on its way. */
export interface Pending {
  ops: WriteOp[];
  /** Weight for the limits; at least 1, so that empty commits are bounded too. */
  weight: number;
  bytes: number;
  settle(outcome: CommitOutcome): void;
  fail(error: unknown): void;
}

/** Commits in call order, bounded. What is taken stays counted until it is settled. */
export interface CommitQueue {
  /**
   * @param options.stored called when it is stored, before its caller hears of it
   * @throws {SvcError} `storage-busy`, `store-invalid-op`
   */
  add(ops: WriteOp[], options?: { signal?: AbortSignal | undefined; stored?: (ops: readonly WriteOp[]) => void }): Promise<OpResult[]>;
  /** Takes the commits that have been waiting, up to the limits of one transaction; at least one when there is any. */
  takeGroup(): Pending[];
  failAll(error: () => unknown): void;
  readonly waiting: number;
  /** Operations not settled yet. */
  readonly queuedOps: number;
}

export function createCommitQueue(limits: QueueLimits): CommitQueue {
  const queue: Pending[] = [];
  let ops = 0;
  let bytes = 0;

  const accept = (weight: number, size: number) => {
    if (weight > limits.waitingOps || size > limits.waitingBytes)
      throw new Refusal("store-invalid-op", { reason: `a commit of ${weight} operations and about ${size} bytes is over the limit` });
    if (ops + weight > limits.waitingOps || bytes + size > limits.waitingBytes)
      throw new Refusal("storage-busy", { queued: ops }, { retryAfterMs: 1_000 });
    ops += weight;
    bytes += size;
  };

  return {
    add: (encoded, { signal, stored } = {}) =>
      // One promise for the whole way: with those of a chain of awaits a small commit would cost twice as much here.
      new Promise((resolve, reject) => {
        signal?.throwIfAborted();
        const weight = Math.max(1, encoded.length);
        const size = encoded.reduce((sum, op) => sum + sizeOfOp(op), 0);
        accept(weight, size);
        const leave = () => {
          ops -= weight;
          bytes -= size;
        };
        enqueue(queue, { ops: encoded, weight, bytes: size }, { signal, stored, leave, resolve, reject });
      }),
    takeGroup: () => queue.splice(0, groupLength(queue, limits)),
    failAll(error) {
      for (const pending of queue.splice(0)) pending.fail(error());
    },
    get waiting() {
      return queue.length;
    },
    get queuedOps() {
      return ops;
    },
  };
}

interface Waiter {
  signal: AbortSignal | undefined;
  stored: ((ops: readonly WriteOp[]) => void) | undefined;
  /** Stops counting it. */
  leave(): void;
  resolve(results: OpResult[]): void;
  reject(error: unknown): void;
}

function enqueue(queue: Pending[], { ops, weight, bytes }: Pick<Pending, "ops" | "weight" | "bytes">, waiter: Waiter): void {
  const { signal } = waiter;
  const abort = () => {
    const at = queue.indexOf(pending);
    // Not found: it is with the writer, and what the writer answers is the truth.
    if (at >= 0) queue.splice(at, 1)[0]?.fail(signal?.reason);
  };
  const end = () => {
    signal?.removeEventListener("abort", abort);
    waiter.leave();
  };
  const pending: Pending = {
    ops,
    weight,
    bytes,
    settle(outcome) {
      end();
      if ("refused" in outcome) return waiter.reject(toError(outcome.refused));
      waiter.stored?.(ops);
      waiter.resolve(outcome.results);
    },
    fail(error) {
      end();
      waiter.reject(error);
    },
  };
  signal?.addEventListener("abort", abort, { once: true });
  queue.push(pending);
}

function toError({ code, fields, retryAfterMs }: PlainRefusal): Refusal {
  return new Refusal(code, fields, retryAfterMs === undefined ? {} : { retryAfterMs });
}

function groupLength(queue: readonly Pending[], limits: QueueLimits): number {
  let length = 0;
  let ops = 0;
  let bytes = 0;
  for (const pending of queue) {
    ops += pending.weight;
    bytes += pending.bytes;
    if (length > 0 && (length >= limits.groupCommits || ops > limits.groupOps || bytes > limits.groupBytes)) break;
    length += 1;
  }
  return length;
}
