import type { HealthPart, StoreStatus } from "svc/sdk";
import { storageAdvice } from "./storage-unavailable.ts";

/** The part `store` of the health snapshot. A store that starts afresh after damage works, and says so. */
export function toHealthPart(status: StoreStatus): HealthPart {
  const { ok, reason, queued, damaged, unreadableRows } = status;
  const message = reason
    ? storageAdvice[reason]
    : damaged && `the state database was damaged and is kept as ${damaged}; a fresh one was started`;
  return {
    part: "store",
    ok,
    critical: true,
    value: {
      ok,
      ...(reason ? { reason } : {}),
      queued,
      ...(damaged ? { damaged } : {}),
      ...(unreadableRows ? { unreadableRows } : {}),
    },
    ...(message ? { message } : {}),
  };
}
