import { join } from "node:path";
import { definePlugin } from "svc/sdk";
import { plannedFailpoint, plannedFaultFile } from "./env.ts";
import { toHealthPart } from "./health.ts";
import { openStore } from "./open-store.ts";
import { createPluginRows } from "./plugin-rows.ts";

/** Service `store@1`: the one writer of state. */
export default definePlugin({
  id: "store",
  version: "0.1.0",
  svc: { api: "^1.0.0" },
  async setup(ctx) {
    const gateway = ctx.service("gateway@1");
    const failpoint = plannedFailpoint();
    const faultFile = plannedFaultFile();
    const store = await openStore({
      path: join(gateway.info().stateDir, "state.sqlite"),
      clock: ctx.clock,
      logger: ctx.logger,
      onStatus: () => gateway.invalidateHealth(),
      ...(failpoint === undefined ? {} : { failpoint }),
      ...(faultFile === undefined ? {} : { faults: { file: faultFile } }),
    });
    // First registered, last undone: everybody who may still write has stopped by then.
    ctx.onDispose(() => store.close());
    ctx.registerService("store@1", store);
    ctx.contribute("kv", "store", createPluginRows(store));
    ctx.on("health.collect", (_, { report }) => report(toHealthPart(store.status())));
  },
});
