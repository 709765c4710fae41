import type { Leases } from "./leases.ts";
import type { Store } from "./store.ts";

/**
 * Service `store-backend@1`: a store outside the process. The plugin `store` registers its parts as `store@2` and `leases@1` when `store.backend` names it, so that
 * these have one provider. What its methods reject with has a `code` of the table of the plugin `store`, the `fields` of its text, and `retryAfterMs` where it passes.
 */
export interface StoreBackend {
  store: Store;
  leases: Leases;
  /** Rows of all plugins (`ctx.kv`), each under its own id. */
  rows: PluginRows;
}

/** Durable rows of plugins; keys and sizes are checked by the caller. */
export interface PluginRows {
  get(plugin: string, key: string): Promise<unknown>;
  set(plugin: string, key: string, value: unknown): Promise<void>;
  delete(plugin: string, key: string): Promise<void>;
  /** At most 1,000 rows, ordered by key. */
  list(plugin: string, prefix: string): Promise<Array<{ key: string; value: unknown }>>;
}
