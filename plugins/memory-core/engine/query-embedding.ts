import { reasonOf } from "./fault.ts";

/** Result of embedding a query. */
export type QueryVector = { kind: "vector"; vector: Float32Array } | { kind: "failed"; reason: string } | { kind: "late" };

/** A query being embedded while words are searched. */
export interface QueryEmbedding {
  /** Never rejects; `late` at the deadline. */
  wait(): Promise<QueryVector>;
  /** Gives up what is not done; idempotent. */
  stop(): void;
}

/** @param deadlineMs by the monotonic clock */
export function startQueryEmbedding(embed: (signal: AbortSignal) => Promise<Float32Array>, deadlineMs: number): QueryEmbedding {
  const abandon = new AbortController();
  const done = embed(abandon.signal).then(
    (vector): QueryVector => ({ kind: "vector", vector }),
    (error): QueryVector => ({ kind: "failed", reason: reasonOf(error) }),
  );
  return {
    wait: () => within(done, deadlineMs, { kind: "late" }),
    stop: () => abandon.abort(),
  };
}

/** The outcome of `work`, or `late` at the deadline, whichever is first. */
export async function within<T, L>(work: Promise<T>, deadlineMs: number, late: L): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<L>((resolve) => {
    timer = setTimeout(resolve, Math.max(0, deadlineMs - performance.now()), late);
  });
  try {
    return await Promise.race([work, expired]);
  } finally {
    clearTimeout(timer);
  }
}
