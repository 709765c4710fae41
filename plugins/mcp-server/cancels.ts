import { createHash } from "node:crypto";

/** Calls that are listed at once; one beyond it cannot be cancelled by a message, only by closing its connection. */
const MAX_OPEN = 1_000;

/**
 * Calls in progress, for clients of the older revision: they cancel by a request of its own, which names the id of the call and comes without a session.
 * Two clients that share a secret may use the same id at the same time; then neither is cancelled, rather than the wrong one.
 */
export class Cancels {
  readonly #open = new Map<string, Set<AbortController>>();
  #count = 0;

  /** @returns the signal of this call, and what ends its place in the list */
  add(caller: string, id: string | number): { signal: AbortSignal; dispose(): void } {
    const key = keyOf(caller, id);
    const controller = new AbortController();
    if (this.#count >= MAX_OPEN) return { signal: controller.signal, dispose: () => undefined };
    const calls = this.#open.get(key) ?? new Set();
    this.#open.set(key, calls.add(controller));
    this.#count++;
    return {
      signal: controller.signal,
      dispose: () => {
        if (!calls.delete(controller)) return;
        this.#count--;
        if (calls.size === 0) this.#open.delete(key);
      },
    };
  }

  /** Ends the call that a body asks to cancel; a body that is something else does nothing. */
  take(caller: string, body: unknown): void {
    for (const message of Array.isArray(body) ? body.slice(0, 100) : [body]) {
      const id = cancelledId(message);
      const calls = id === undefined ? undefined : this.#open.get(keyOf(caller, id));
      const [only, ...more] = calls ?? [];
      if (only && more.length === 0) only.abort(new Error("the client cancelled the call"));
    }
  }
}

function cancelledId(message: unknown): string | number | undefined {
  if (typeof message !== "object" || message === null) return undefined;
  const { method, params } = message as { method?: unknown; params?: unknown };
  if (method !== "notifications/cancelled" || typeof params !== "object" || params === null) return undefined;
  const { requestId } = params as { requestId?: unknown };
  return typeof requestId === "string" || typeof requestId === "number" ? requestId : undefined;
}

function keyOf(caller: string, id: string | number): string {
  return createHash("sha256")
    .update(`${caller}\0${typeof id}\0${id}`)
    .digest("base64url");
}
