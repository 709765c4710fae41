import type { SvcConfig } from "./config/root.ts";

/**
 * Something made from the config, made again at its first use after a reload. A snapshot is one object for as long as it is in force, so asking
 * costs one comparison.
 *
 * @param snapshot `ctx.snapshot`
 * @returns reads the value for the snapshot in force
 */
export function perSnapshot<T>(snapshot: () => SvcConfig, make: (config: SvcConfig) => T): () => T {
  let made: { config: SvcConfig; value: T } | undefined;
  return () => {
    const config = snapshot();
    if (made?.config !== config) made = { config, value: make(config) };
    return made.value;
  };
}
