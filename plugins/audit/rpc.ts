import type { PluginContext } from "svc/sdk";
import type { AuditLog } from "./log.ts";
import { auditMethods } from "./protocol-methods.ts";
import { listEntries, verifyChain } from "./read.ts";
import type { AuditRows } from "./rows.ts";

/** Registers the methods that read the log; what was reported before a call is in its answer. */
export function registerAuditMethods(ctx: PluginContext<unknown>, { rows, log }: { rows: AuditRows; log: Pick<AuditLog, "flushed"> }): void {
  const list = auditMethods["audit.list"];
  ctx.registerRpc({
    method: "audit.list",
    scope: list.scope,
    params: list.params,
    async handler({ limit = 100, ...question }, { signal }) {
      await log.flushed();
      return listEntries(rows, { limit, ...question }, signal);
    },
  });
  const verify = auditMethods["audit.verify"];
  ctx.registerRpc({
    method: "audit.verify",
    scope: verify.scope,
    params: verify.params,
    async handler({ known }, { signal }) {
      await log.flushed();
      return verifyChain(rows, { known, signal });
    },
  });
}
