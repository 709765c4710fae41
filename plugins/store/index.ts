import { join } from "node:path";
import { definePlugin, isSvcError, messageOf } from "svc/sdk";
import { writeNotice } from "svc/sdk/internal";
import { plannedFailpoint, plannedFaultFile, testGuardMs } from "./env.ts";
import { registerReports } from "./health.ts";
import { openStore } from "./open-store.ts";
import { useBackend } from "./other-backend.ts";
import { createPluginRows } from "./plugin-rows.ts";

/** Codes that end a start: the operator chooses which program, which file, or what to make room from. */
const refusals = ["store-too-new", "store-no-room", "store-migration-failed"];

/** Services `store@2`, the one writer of state, and `leases@1`. */
export default definePlugin({
  id: "store",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  async setup(ctx) {
    const gateway = ctx.service("gateway@1");
    const { stateDir } = gateway.info();
    if (ctx.snapshot().store.backend !== "sqlite") return useBackend(ctx);
    const failpoint = plannedFailpoint();
    const faultFile = plannedFaultFile();
    const guardMs = testGuardMs();
    let keeping: Promise<void> = Promise.resolve();
    const commits = ctx.metrics.histogram({ name: "store_commit_ms", help: "Time of a transaction, fsync included" });
    const store = await openStore({
      path: join(stateDir, "state.sqlite"),
      clock: ctx.clock,
      timers: ctx.timers,
      logger: ctx.logger,
      onGroup: (ms) => commits.observe(ms),
      onStatus() {
        gateway.invalidateHealth();
        gateway.setReadiness("store", store.status().notReady);
      },
      onNotice(notice) {
        keeping = keeping
          .then(() => writeNotice(stateDir, notice))
          .catch((error: unknown) =>
            ctx.logger.warn("a notice for the operator could not be stored", { id: notice.id, error: messageOf(error) }),
          );
      },
      // The next start puts a sound database in its place; until then nothing can be stored.
      onDamage: (message) => gateway.requestRestart(`the state database is damaged (${message}); the next start restores it`),
      ...(failpoint === undefined ? {} : { failpoint }),
      ...(faultFile === undefined ? {} : { faults: { file: faultFile } }),
      ...(guardMs === undefined ? {} : { guardMs }),
    }).catch((error: unknown) => {
      // Serving on an empty memory would look like the loss of everything; which program or file is to be used is the operator's choice.
      if (refusals.some((code) => isSvcError(error, code)) && isSvcError(error)) gateway.refuseStart(error);
      throw error;
    });
    ctx.metrics.gauge({ name: "queue_depth", help: "Work that waits", labels: ["queue"] }, (set) => set(store.status().queued, "store"));
    ctx.metrics.gauge({ name: "store_writable", help: "1 while the state database takes writes" }, (set) => set(store.status().ok ? 1 : 0));
    // First registered, last undone: everybody who may still write has stopped by then.
    ctx.onDispose(async () => {
      await store.close();
      await keeping;
    });
    ctx.onDispose(() => gateway.setReadiness("store", undefined));
    ctx.registerService("store@2", store.service);
    ctx.registerService("leases@1", store.leases);
    ctx.contribute("kv", "store", createPluginRows(store));
    registerReports(ctx, { stateDir, status: store.status });
  },
});
