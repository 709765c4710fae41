import type { Logger } from "../../sdk/types/common.ts";

/** Something of the SDK that is going to go. */
export interface Deprecation {
  /** `SVC_DEP0001`, `SVC_DEP0002` …; never used again for something else. */
  code: string;
  /** Deprecated feature, as an author writes it. */
  what: string;
  /** Replacement to write instead. */
  replacement: string;
  /** Version of the plugin API it is deprecated since. */
  since: string;
  /** Major version it is gone with; not before six months after `since`. */
  removedIn: string;
}

/** User of something deprecated. */
export interface DeprecatedUser {
  id: string;
  logger: Pick<Logger, "warn">;
  /** Diagnostics of its instance. */
  diagnostics: Array<{ code: string; message: string }>;
}

/** Uses of one registry. */
export interface Deprecations {
  readonly list: readonly Deprecation[];
  /**
   * Notes that a plugin uses something deprecated: once in its log, and once in its diagnostics, from where `svc plugins doctor` lists it.
   * @throws {Error} for a code that is not in the registry
   */
  warn(plugin: DeprecatedUser, code: string): void;
  /** Codes each plugin was warned about, sorted, by plugin id. */
  used(): ReadonlyMap<string, readonly string[]>;
}

/**
 * A registry of deprecations.
 * @throws {Error} for a code of another form, one that stands twice, and for a removal in the major version of its own deprecation
 */
export function createDeprecations(list: readonly Deprecation[]): Deprecations {
  const byCode = new Map<string, Deprecation>();
  for (const one of list) {
    if (!/^SVC_DEP\d{4}$/.test(one.code)) throw new Error(`deprecation "${one.code}": expected a code such as SVC_DEP0001`);
    if (byCode.has(one.code)) throw new Error(`deprecation ${one.code} is listed twice`);
    if (majorOf(one.removedIn) <= majorOf(one.since))
      throw new Error(`deprecation ${one.code}: removed in a later major version than ${one.since}`);
    byCode.set(one.code, one);
  }
  const used = new Map<string, Set<string>>();
  return {
    list,
    warn({ id, logger, diagnostics }, code) {
      const found = byCode.get(code);
      if (!found) throw new Error(`deprecation ${code} is not in the registry`);
      const codes = used.get(id) ?? new Set();
      used.set(id, codes);
      if (codes.has(code)) return;
      codes.add(code);
      const message = `${found.what} is deprecated since plugin API ${found.since} and goes with ${found.removedIn}; use ${found.replacement}`;
      logger.warn(message, { code, plugin: id });
      diagnostics.push({ code, message });
    },
    used: () => new Map([...used].map(([id, codes]) => [id, [...codes].sort()])),
  };
}

/** Deprecations of this SDK: none yet. */
export const deprecations = createDeprecations([]);

function majorOf(version: string): number {
  return Number(version.split(".")[0]);
}
