import type { PluginKv } from "svc/sdk";

/** Values of a plugin in memory, for tests without a store. */
export function createMemoryKv(): PluginKv {
  const rows = new Map<string, string>();
  return {
    get: async <T>(key: string) => (rows.has(key) ? (JSON.parse(rows.get(key) as string) as T) : undefined),
    set: async (key, value) => void rows.set(key, JSON.stringify(value)),
    delete: async (key) => void rows.delete(key),
    list: async (prefix = "") =>
      [...rows]
        .filter(([key]) => key.startsWith(prefix))
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .slice(0, 1_000)
        .map(([key, value]) => ({ key, value: JSON.parse(value) })),
  };
}
