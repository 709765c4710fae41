import { definePlugin, settledWithin, z } from "svc/sdk";
import { AuditLog } from "./log.ts";
import { verifyChain } from "./read.ts";
import { createRows } from "./rows.ts";
import { registerAuditMethods } from "./rpc.ts";
import { watchActs } from "./sources.ts";

/** A stop of the gateway waits so long for the last entries. */
const FLUSH_MS = 3_000;

/** The audit log: what agents and operators did, append-only, each entry chained to the one before it. */
export default definePlugin({
  id: "audit",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  config: z.strictObject({
    maxEntries: z
      .int()
      .min(2_000)
      .max(1_000_000)
      .default(100_000)
      .describe("Number of entries that are kept at least; beyond it the oldest thousand is replaced by a checkpoint"),
  }),
  setup(ctx) {
    const rows = createRows(() => ctx.service("store@2"));
    const { clock, timers, logger, signal, config } = ctx;
    const log = new AuditLog({ rows, clock, timers, logger, signal, maxEntries: config.maxEntries });
    watchActs(ctx, log);
    registerAuditMethods(ctx, { rows, log });
    ctx.registerDoctorCheck({
      id: "audit/chain",
      async run(stop) {
        const { ok, problem } = await verifyChain(rows, { lastBlocks: 2, signal: stop });
        if (ok) return { ok: true, level: "info", message: "the newest entries of the audit log are unchanged" };
        const message = `the audit log was changed at entry ${problem?.seq}: ${problem?.reason}`;
        return { ok: false, level: "error", message, fix: "svc audit verify" };
      },
    });
    ctx.on("gateway.stopping", async ({ reason }) => {
      log.add({
        action: "gateway.stopping",
        actor: { kind: "gateway", id: "gateway" },
        outcome: "ok",
        details: { reason: reason.slice(0, 200) },
      });
      await settledWithin(log.flushed(), FLUSH_MS);
    });
    return { stop: () => settledWithin(log.flushed(), FLUSH_MS).then(() => undefined) };
  },
});
