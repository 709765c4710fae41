import type { PluginRows } from "svc/sdk";
import { sharedErrors } from "svc/sdk/internal";
import type { OpenStore } from "./open-store.ts";

const maxKeys = 5_000;

/** Key-value rows of plugins (`ctx.kv`), each plugin in a scope of its own. The kernel has checked keys and sizes. */
export function createPluginRows({ service, kvCount }: Pick<OpenStore, "service" | "kvCount">): PluginRows {
  const scopeOf = (plugin: string) => `plugin/${plugin}`;
  return {
    get: (plugin, key) => service.kv.get(scopeOf(plugin), key),
    async set(plugin, key, value) {
      const scope = scopeOf(plugin);
      // Two new keys at once may both take the last place: the limit bounds the table, it is no promise.
      if ((await service.kv.read(scope, key)) === undefined && (await kvCount(scope)) >= maxKeys)
        throw sharedErrors.kvLimit({ plugin, what: `it has ${maxKeys} keys already` });
      await service.commit([{ op: "kv.put", scope, key, value }]);
    },
    async delete(plugin, key) {
      await service.commit([{ op: "kv.delete", scope: scopeOf(plugin), key }]);
    },
    list: (plugin, prefix) => service.kv.list(scopeOf(plugin), prefix),
  };
}
