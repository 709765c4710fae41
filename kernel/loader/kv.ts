import { sharedErrors } from "../../sdk/internal/errors.ts";
import { isWellFormed } from "../../sdk/text/id-text.ts";
import type { PluginKv } from "../../sdk/types/context.ts";

/** Bounds of one plugin's key-value rows. */
const kvLimits = { maxKeyChars: 256, maxValueBytes: 64 * 1024, maxKeys: 5_000, maxListed: 1_000 } as const;

type Listed = Array<{ key: string; value: unknown }>;

/** Contribution `("kv", "store")`: durable rows of all plugins, each under its own id. */
export interface KvProvider {
  /** The value, or a promise of it. */
  get(plugin: string, key: string): unknown;
  /** Resolves once durable. @throws {SvcError} `kv-limit` for one key more than `kvLimits.maxKeys` */
  set(plugin: string, key: string, value: unknown): Promise<void>;
  delete(plugin: string, key: string): Promise<void>;
  /** At most `kvLimits.maxListed` rows, ordered by key. */
  list(plugin: string, prefix: string): Listed | Promise<Listed>;
}

/**
 * The rows of one plugin.
 * @param provider the present provider. @throws {SvcError} `service-unavailable` while there is none
 */
export function createPluginKv(plugin: string, provider: () => KvProvider): PluginKv {
  const checkKey = (key: string) => {
    if (typeof key !== "string" || key.length === 0 || key.length > kvLimits.maxKeyChars)
      throw sharedErrors.kvLimit({ plugin, what: `a key has 1 to ${kvLimits.maxKeyChars} characters` });
    if (!isWellFormed(key)) throw sharedErrors.kvLimit({ plugin, what: "a key holds no lone surrogates (halves of a character)" });
  };
  return {
    get: async <T>(key: string) => (await provider().get(plugin, key)) as T | undefined,
    async set(key, value) {
      checkKey(key);
      const text = JSON.stringify(value);
      if (text === undefined) throw sharedErrors.kvLimit({ plugin, what: `the value of "${key}" is not JSON` });
      if (Buffer.byteLength(text) > kvLimits.maxValueBytes) {
        throw sharedErrors.kvLimit({ plugin, what: `the value of "${key}" is larger than ${kvLimits.maxValueBytes / 1024} KiB` });
      }
      await provider().set(plugin, key, value);
    },
    async delete(key) {
      checkKey(key);
      await provider().delete(plugin, key);
    },
    list: async (prefix = "") => provider().list(plugin, prefix),
  };
}
