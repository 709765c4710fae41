import type { SvcConfig } from "../config/root.ts";

/**
 * Something made from the config or a part of it, made again at its first use after a reload. A snapshot is one object for as long as it is in
 * force, so asking costs one comparison.
 *
 * @param snapshot `ctx.snapshot`, or a section of what it returns
 * @returns reads the value for the snapshot in force
 */
export function perSnapshot<T, S extends object = SvcConfig>(snapshot: () => S, make: (config: S) => T): () => T {
  let made: { config: S; value: T } | undefined;
  return () => {
    const config = snapshot();
    if (made?.config !== config) made = { config, value: make(config) };
    return made.value;
  };
}
