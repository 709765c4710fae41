import type { HooksConfig } from "./action.ts";
import type { Mapping } from "./mappings/mapping.ts";

/**
 * The largest body of each path. Which of several mappings owns a request is known only when its body was read, so the roomiest of those that may decides:
 * those with that very path, or else those of any path.
 */
export function bodyCaps(hooks: Pick<HooksConfig, "maxBodyBytes">, mappings: readonly Mapping[]): (path: string) => number {
  const capOf = ({ maxBodyBytes }: Mapping) => maxBodyBytes ?? hooks.maxBodyBytes;
  const own = new Map<string, number>();
  for (const mapping of mappings) {
    const path = mapping.match?.path;
    if (path !== undefined) own.set(path, Math.max(own.get(path) ?? 0, capOf(mapping)));
  }
  const open = mappings.filter((mapping) => mapping.match?.path === undefined).map(capOf);
  const others = open.length > 0 ? Math.max(...open) : hooks.maxBodyBytes;
  return (path) => (path === "wake" || path === "agent" ? hooks.maxBodyBytes : (own.get(path) ?? others));
}
