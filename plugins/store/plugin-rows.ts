import { sharedErrors } from "svc/sdk/internal";
import type { OpenStore } from "./open-store.ts";

const maxKeys = 5_000;

/** Key-value rows of plugins (`ctx.kv`), each plugin in a scope of its own. The kernel has checked keys and sizes. */
export function createPluginRows(store: Pick<OpenStore, "kv" | "kvCount" | "commit">) {
  const scopeOf = (plugin: string) => `plugin/${plugin}`;
  /** New keys that are being written: two of them must not both take the last place. */
  const adding = new Map<string, Set<string>>();

  return {
    get: (plugin: string, key: string): unknown => store.kv.get(scopeOf(plugin), key),
    async set(plugin: string, key: string, value: unknown): Promise<void> {
      const scope = scopeOf(plugin);
      const op = { op: "kv.put" as const, scope, key, value };
      if (store.kv.get(scope, key) !== undefined) return void (await store.commit([op]));
      const mine = adding.get(plugin) ?? new Set();
      if (!mine.has(key) && store.kvCount(scope) + mine.size >= maxKeys) {
        throw sharedErrors.kvLimit({ plugin, what: `it has ${maxKeys} keys already` });
      }
      adding.set(plugin, mine.add(key));
      try {
        await store.commit([op]);
      } finally {
        mine.delete(key);
        if (mine.size === 0) adding.delete(plugin);
      }
    },
    async delete(plugin: string, key: string): Promise<void> {
      await store.commit([{ op: "kv.delete", scope: scopeOf(plugin), key }]);
    },
    list: (plugin: string, prefix: string) => store.kv.list(scopeOf(plugin), prefix),
  };
}
