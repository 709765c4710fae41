import type { ClientInfo } from "../../sdk/types/rpc.ts";
import { protocolErrors } from "../errors.ts";

/** Methods that change how the gateway is run; each may be called 30 times in 60 s by one client. */
export const budgetedMethods: ReadonlySet<string> = new Set([
  "config.set",
  "config.apply",
  "config.patch",
  "secrets.reload",
  "plugins.setEnabled",
  "plugins.reload",
  "plugins.install",
  "plugins.uninstall",
  "cron.add",
  "cron.update",
  "cron.remove",
  "cron.run",
  "agents.create",
  "agents.update",
  "agents.delete",
  "gateway.restart.request",
]);

/** Other names of the same, with one budget. */
const aliases: ReadonlyMap<string, string> = new Map([["gateway.restart", "gateway.restart.request"]]);

const MAX_CALLS = 30;
const WINDOW_MS = 60_000;
const MAX_KEYS = 10_000;

/** Counts the calls of each client. */
export interface WriteBudget {
  /** Counts a call before anything about it is looked at. @throws {SvcError} `write-rate-limited` with the time until the window ends */
  take(method: string, client: Pick<ClientInfo, "deviceId" | "remote">): void;
}

/** Fixed windows per method and client (its device, else its address); at most 10,000 are remembered, the oldest goes first. */
export function createWriteBudget(monotonic: () => number): WriteBudget {
  const windows = new Map<string, { since: number; calls: number }>();
  return {
    take(method, client) {
      const counted = aliases.get(method) ?? method;
      if (!budgetedMethods.has(counted)) return;
      const key = JSON.stringify([counted, client.deviceId ?? client.remote]);
      const now = monotonic();
      const known = windows.get(key);
      const window = known && now - known.since < WINDOW_MS ? known : { since: now, calls: 0 };
      windows.delete(key);
      windows.set(key, window);
      if (windows.size > MAX_KEYS) windows.delete(windows.keys().next().value as string);
      window.calls += 1;
      if (window.calls <= MAX_CALLS) return;
      const retryAfterMs = Math.ceil(window.since + WINDOW_MS - now);
      const fields = { method, seconds: Math.ceil(retryAfterMs / 1000), limit: `${MAX_CALLS} per ${WINDOW_MS / 1000}s` };
      throw protocolErrors.writeRateLimited(fields, { retryAfterMs });
    },
  };
}
