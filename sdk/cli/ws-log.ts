import type { Logger } from "../sdk/types/common.ts";
import type { HookBus } from "./hooks/bus.ts";

/** `compact`: who comes and goes, and what fails. `full`: every method with its time as well. */
export function tapWsLog(hooks: HookBus, logger: Logger, mode: "compact" | "full"): void {
  const log = logger.child("ws");
  const tap = <E>(hook: Parameters<HookBus["tap"]>[0], fn: (event: E) => void) =>
    hooks.tap(hook, { plugin: "kernel", order: -1, fn: fn as never });
  tap("ws.connect", ({ client }: { client: { connId: string; clientId: string; mode: string; remote: string } }) =>
    log.info(`connect ${client.clientId} (${client.mode})`, { connId: client.connId, remote: client.remote }),
  );
  tap("ws.disconnect", ({ client, code, reason }: { client: { connId: string; clientId: string }; code: number; reason: string }) =>
    log.info(`close ${client.clientId} ${code}${reason ? ` ${reason}` : ""}`, { connId: client.connId }),
  );
  tap("rpc.after", ({ method, ok, code, ms }: { method: string; ok: boolean; code?: string; ms: number }) => {
    if (!ok) log.warn(`${method} failed: ${code}`, { ms: Math.round(ms) });
    else if (mode === "full") log.info(method, { ms: Math.round(ms) });
  });
}
