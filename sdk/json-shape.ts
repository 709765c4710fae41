/** Limits of JSON that strangers send (`design.md` 16c). */
const MAX_DEPTH = 64;
const MAX_KEYS = 10_000;

/**
 * True when parsed JSON is nested deeper than 64 levels or holds more than `maxKeys` object keys in all (default 10,000).
 * Whoever walks it by recursion afterwards cannot run out of stack.
 */
export function exceedsJsonShape(value: unknown, maxKeys: number = MAX_KEYS): boolean {
  let keys = 0;
  const walk = (at: unknown, depth: number): boolean => {
    if (typeof at !== "object" || at === null) return false;
    if (depth > MAX_DEPTH) return true;
    if (Array.isArray(at)) return at.some((inner) => walk(inner, depth + 1));
    // for…in, because it does not collect a million values first
    for (const key in at) {
      keys += 1;
      if (keys > maxKeys || walk((at as Record<string, unknown>)[key], depth + 1)) return true;
    }
    return false;
  };
  return walk(value, 1);
}
