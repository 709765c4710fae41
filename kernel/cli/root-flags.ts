import { commonErrors } from "../../sdk/errors.ts";
import { distance } from "./nearest.ts";

const logLevels = ["trace", "debug", "info", "warn", "error", "silent"] as const;
/** Least severity that is written. */
export type LogLevelName = (typeof logLevels)[number];

/** Flags that belong to the program, wherever on the line they stand. */
export interface RootFlags {
  profile: string | undefined;
  logLevel: LogLevelName | undefined;
  color: boolean;
  json: boolean;
  help: boolean;
  version: boolean;
}

const switches: Record<string, Partial<RootFlags>> = {
  "--dev": { profile: "dev" },
  "--no-color": { color: false },
  "--json": { json: true },
  "--help": { help: true },
  "-h": { help: true },
  "--version": { version: true },
  "-V": { version: true },
};

/**
 * Takes the program's flags off a command line; what follows `--` is left alone.
 * @throws {SvcError} `usage` for a missing or unknown value
 */
export function takeRootFlags(argv: readonly string[]): { flags: RootFlags; rest: string[] } {
  const flags: RootFlags = { profile: undefined, logLevel: undefined, color: true, json: false, help: false, version: false };
  const rest: string[] = [];
  for (let i = 0; i < argv.length; i++) {
    const arg = argv[i] as string;
    if (arg === "--") return { flags, rest: [...rest, ...argv.slice(i)] };
    const valued = /^(--profile|--log-level)(?:=(.*))?$/s.exec(arg);
    if (valued) {
      const name = valued[1] as string;
      const value = valued[2] ?? argv[++i];
      if (value === undefined || value === "") throw commonErrors.usage({ message: `${name}: expected a value` });
      if (name === "--profile") flags.profile = value;
      else flags.logLevel = toLogLevel(value);
    } else if (Object.hasOwn(switches, arg)) Object.assign(flags, switches[arg]);
    else rest.push(arg);
  }
  return { flags, rest };
}

function toLogLevel(value: string): LogLevelName {
  if ((logLevels as readonly string[]).includes(value)) return value as LogLevelName;
  throw commonErrors.usage({ message: `--log-level: expected one of ${logLevels.join(", ")}, got "${value}"` });
}

/** The program's flag that a misspelt one was probably meant to be. */
export function nearestRootFlag(typed: string): string | undefined {
  const name = typed.split("=")[0] as string;
  return ["--profile", "--log-level", ...Object.keys(switches)].find((known) => known.length > 2 && distance(name, known) <= 2);
}
