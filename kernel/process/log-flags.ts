import { isLogged, type LogLevel } from "../../sdk/log-levels.ts";

/** Least level that a flagged subsystem logs at; undefined: no flag names it. */
export type FlagLevels = (subsystem: string) => LogLevel | undefined;

const TRACE = ".trace";
/** Subsystems of plugins come and go; a name that is forgotten is only looked up again. */
const MAX_KNOWN = 1_000;

/**
 * Reads `diagnostics.flags`: `plugin.messaging` is the subsystem `gateway/plugin/messaging` and what is below it, `plugin.*` every one below `plugin`. A flagged
 * subsystem logs at `debug`, and at `trace` when the flag ends in `.trace`.
 */
export function createFlagLevels(flags: readonly string[]): FlagLevels {
  const known = new Map<string, LogLevel | undefined>();
  return (subsystem) => {
    if (flags.length === 0) return undefined;
    if (known.has(subsystem)) return known.get(subsystem);
    const name = subsystem.replace(/^gateway\/?/, "").replaceAll("/", ".");
    const found = flags.map((flag) => levelBy(flag, name)).reduce(leastOf, undefined);
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(subsystem, found);
    return found;
  };
}

function levelBy(flag: string, name: string): LogLevel | undefined {
  const isTrace = flag.endsWith(TRACE);
  const pattern = isTrace ? flag.slice(0, -TRACE.length) : flag;
  const isNamed = pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern || name.startsWith(`${pattern}.`);
  return isNamed ? (isTrace ? "trace" : "debug") : undefined;
}

function leastOf(a: LogLevel | undefined, b: LogLevel | undefined): LogLevel | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return isLogged(a, b) ? b : a;
}
