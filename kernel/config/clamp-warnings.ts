import { daysOf } from "../../sdk/config/clamped.ts";
import type { SvcConfig } from "../../sdk/config/root.ts";
import { isRecord } from "../../sdk/is-record.ts";
import type { ConfigWarning } from "../../sdk/types/config-file.ts";

type MemorySearch = NonNullable<SvcConfig["agents"]["defaults"]["memorySearch"]>;

/**
 * One warning for each configured value of `memorySearch` in whose place another one is used. Pure.
 *
 * @param given the tree that the config was made from, where values stand as written
 */
export function clampWarnings(given: unknown, { agents }: SvcConfig): ConfigWarning[] {
  const common = agents.defaults.memorySearch;
  const at = "agents.defaults.memorySearch";
  return [
    ...changedValues(valueAt(given, at), common, at),
    ...overlapWarnings(common, undefined, at),
    ...weightWarnings(common, undefined, at),
    ...agents.list.flatMap(({ memorySearch: own }, i) => {
      const here = `agents.list.${i}.memorySearch`;
      return [
        ...changedValues(valueAt(given, here), own, here),
        ...overlapWarnings(own, common, here),
        ...weightWarnings(own, common, here),
      ];
    }),
  ];
}

/** Numbers and members of lists that are not the same once the schema has taken them. */
function changedValues(given: unknown, effective: unknown, path: string): ConfigWarning[] {
  if (isRecord(given)) {
    return Object.entries(given).flatMap(([key, value]) =>
      changedValues(value, isRecord(effective) ? effective[key] : undefined, `${path}.${key}`),
    );
  }
  if (Array.isArray(given)) {
    const kept: readonly unknown[] = Array.isArray(effective) ? effective : [];
    const dropped = given.filter((value) => typeof value === "string" && !kept.includes(value));
    return dropped.map((name) => ({ path, message: `${JSON.stringify(name)} is not known and left out` }));
  }
  const number = typeof given === "string" && path.endsWith(".halfLifeDays") ? daysOf(given) : given;
  if (typeof number !== "number" || number === effective) return [];
  if (effective === undefined) return [{ path, message: `${number} is no finite number; a gateway uses the default` }];
  return [{ path, message: outOfRange(given, effective) }];
}

function outOfRange(given: unknown, effective: unknown): string {
  return `${JSON.stringify(given)} is out of range; a gateway uses ${effective}`;
}

/** Pieces that overlap by their whole length would never come to an end. */
function overlapWarnings(search: MemorySearch | undefined, base: MemorySearch | undefined, at: string): ConfigWarning[] {
  const { tokens: ownTokens, overlap: ownOverlap } = search?.chunking ?? {};
  const tokens = ownTokens ?? base?.chunking?.tokens ?? DEFAULT_TOKENS;
  const overlap = ownOverlap ?? base?.chunking?.overlap;
  // An agent that changes neither repeats no complaint about the defaults.
  if ((ownTokens ?? ownOverlap) === undefined || overlap === undefined || overlap < tokens) return [];
  return [{ path: `${at}.chunking.overlap`, message: `${outOfRange(overlap, tokens - 1)}: one less than chunking.tokens` }];
}

const DEFAULT_TOKENS = 400;

/** Nothing would be found by no weight at all. */
function weightWarnings(search: MemorySearch | undefined, base: MemorySearch | undefined, at: string): ConfigWarning[] {
  const own = search?.query?.hybrid ?? {};
  const [vector, text] = [own.vectorWeight ?? base?.query?.hybrid?.vectorWeight, own.textWeight ?? base?.query?.hybrid?.textWeight];
  if ((own.vectorWeight ?? own.textWeight) === undefined || vector !== 0 || text !== 0) return [];
  return [{ path: `${at}.query.hybrid`, message: "both weights are 0; vectorWeight 0.7 and textWeight 0.3 are used" }];
}

function valueAt(tree: unknown, path: string): unknown {
  return path.split(".").reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], tree);
}
