import type { Logger } from "../../sdk/types/common.ts";
import type { RunningGateway } from "../boot/running-gateway.ts";

/** `compact`: who comes and goes, and what fails. `full`: every method with its time as well. */
export function tapWsLog(gateway: Pick<RunningGateway, "tap">, logger: Logger, mode: "compact" | "full"): void {
  const log = logger.child("ws");
  gateway.tap("ws.connect", ({ client }) =>
    log.info(`connect ${client.clientId} (${client.mode})`, { connId: client.connId, remote: client.remote }),
  );
  gateway.tap("ws.disconnect", ({ client, code, reason }) =>
    log.info(`close ${client.clientId} ${code}${reason ? ` ${reason}` : ""}`, { connId: client.connId }),
  );
  gateway.tap("rpc.after", ({ method, ok, code, ms }) => {
    if (!ok) log.warn(`${method} failed: ${code}`, { ms: Math.round(ms) });
    else if (mode === "full") log.info(method, { ms: Math.round(ms) });
  });
}
