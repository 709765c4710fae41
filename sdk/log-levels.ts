/** Severities from the least; `silent` is above all of them. */
export const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
/** One of the severities. */
export type LogLevel = (typeof logLevels)[number];

const rankOf = Object.fromEntries(logLevels.map((level, rank) => [level, rank])) as Record<LogLevel, number>;

/** Is a record of this level written where `least` is the least level? */
export function isLogged(level: LogLevel, least: LogLevel): boolean {
  return rankOf[level] >= rankOf[least];
}
