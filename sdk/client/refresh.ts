import type { Gap } from "./types.ts";

/**
 * Reads `health` and `system-presence` again after lost events, one round at a time: gaps that open during a round cause one more, not many.
 * @param ask one request; failures (no read scope, connection lost) leave that part absent
 */
export function createRefresh(ask: (method: "health" | "system-presence") => Promise<unknown>, deliver: (gap: Gap) => void) {
  let running = false;
  let again: Gap["cause"] | undefined;

  async function round(cause: Gap["cause"]): Promise<void> {
    const [health, presence] = await Promise.allSettled([ask("health"), ask("system-presence")]);
    deliver({
      cause,
      ...(health.status === "fulfilled" ? { health: health.value } : {}),
      ...(presence.status === "fulfilled" ? { presence: presence.value } : {}),
    } as Gap);
  }

  return async function refresh(cause: Gap["cause"]): Promise<void> {
    if (running) {
      again = cause;
      return;
    }
    running = true;
    let next: Gap["cause"] | undefined = cause;
    while (next !== undefined) {
      again = undefined;
      await round(next);
      next = again;
    }
    running = false;
  };
}
