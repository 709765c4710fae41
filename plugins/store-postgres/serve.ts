import { isSvcError, type PluginContext, sleep } from "svc/sdk";
import { toEndpoint } from "./endpoint.ts";
import { registerReports } from "./health.ts";
import { type OpenStore, type OpenStoreOptions, openStore } from "./open-store.ts";
import { createPluginRows } from "./plugin-rows.ts";
import { createPostgresDriver, type PostgresLibrary } from "./postgres-driver.ts";
import { instanceOf, readSettings } from "./settings.ts";

/** A database that is still starting is waited for; the supervisor starts the gateway again after that. */
const startMs = 20_000;
const retryMs = 500;

/** Opens the store, and registers it as `store-backend@1`. */
export async function serveStore(ctx: PluginContext): Promise<void> {
  const settings = readSettings(ctx);
  const { default: library } = await ctx.vendor.load<{ default: PostgresLibrary }>("postgres");
  const gateway = ctx.service("gateway@1");
  const { version, bootId, stateDir } = gateway.info();
  const commits = ctx.metrics.histogram({ name: "store_commit_ms", help: "Time of a transaction, fsync included" });
  const opened: { store?: OpenStore } = {};
  const store = await openWhenUp(ctx, {
    database: createPostgresDriver(library, settings),
    endpoint: toEndpoint(settings.url, settings.schema),
    schema: settings.schema,
    identity: { bootId, instance: instanceOf(stateDir), version },
    clock: ctx.clock,
    logger: ctx.logger,
    ttlMs: settings.ttlMs,
    onGroup: (ms) => commits.observe(ms),
    onStatus() {
      gateway.invalidateHealth();
      gateway.setReadiness("store", opened.store?.service.status().notReady);
    },
  });
  opened.store = store;
  const { service } = store;
  ctx.metrics.gauge({ name: "queue_depth", help: "Work that waits", labels: ["queue"] }, (set) => set(service.status().queued, "store"));
  ctx.metrics.gauge({ name: "store_writable", help: "1 while the state database takes writes" }, (set) => set(service.status().ok ? 1 : 0));
  // First registered, last undone: everybody who may still write has stopped by then.
  ctx.onDispose(() => store.close());
  ctx.onDispose(() => gateway.setReadiness("store", undefined));
  ctx.registerService("store-backend@1", { store: service, leases: store.leases, rows: createPluginRows(store) });
  registerReports(ctx, { store, schema: settings.schema });
}

async function openWhenUp(ctx: PluginContext, options: OpenStoreOptions): Promise<OpenStore> {
  const end = ctx.clock.monotonic() + startMs;
  for (;;) {
    try {
      return await openStore(options);
    } catch (error) {
      if (!isSvcError(error, "database-unusable") || ctx.clock.monotonic() > end) throw error;
      ctx.logger.warn("the database cannot be used yet; trying again", { error: error.message });
      await sleep(retryMs, ctx.signal);
    }
  }
}
