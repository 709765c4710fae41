import { methodOf, type PluginContext } from "svc/sdk";
import type { AuditLog } from "./log.ts";
import { auditMethods } from "./protocol-methods.ts";
import { listEntries, verifyChain } from "./read.ts";
import type { AuditRows } from "./rows.ts";

/** Registers the methods that read the log; what was reported before a call is in its answer. */
export function registerAuditMethods(
  ctx: PluginContext<unknown>,
  { rows, log }: { rows: AuditRows; log: Pick<AuditLog, "flushed"> },
): void {
  ctx.registerRpc({
    ...methodOf(auditMethods, "audit.list"),
    async handler({ limit = 100, ...question }, { signal }) {
      await log.flushed();
      return listEntries(rows, { limit, ...question }, signal);
    },
  });
  ctx.registerRpc({
    ...methodOf(auditMethods, "audit.verify"),
    async handler({ known }, { signal }) {
      await log.flushed();
      return verifyChain(rows, { known, signal });
    },
  });
}
