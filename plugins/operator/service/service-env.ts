import { isRecord } from "svc/sdk";

/** Names that a supervisor sets itself, or that decide which code runs. */
const foreignNames = /^(PATH|HOME|USER|LOGNAME|SHELL|PWD|TMPDIR|TEMP|TMP|USERPROFILE|LANG|LC_.*|XDG_.*|NODE_.*|LD_.*|DYLD_.*)$/i;

/** Input for choosing what a service is given besides its definition. */
export interface ServiceEnvQuestion {
  env: Readonly<Record<string, string | undefined>>;
  /** Source tree of the config. */
  source: unknown;
  /** Names with a value in `<stateDir>/.env`: the gateway reads that file itself. */
  known: readonly string[];
  pathEnv: Readonly<Record<string, string>>;
}

/**
 * Variables of `service/gateway.env`: those that say where state and config are, and those that the config names and only this environment has.
 * `unusable` names those whose value a file of variables cannot hold. Pure.
 */
export function serviceEnv({ env, source, known, pathEnv }: ServiceEnvQuestion): { text: string; unusable: string[] } {
  const vars = isRecord(source) && isRecord(source.env) && isRecord(source.env.vars) ? Object.keys(source.env.vars) : [];
  const elsewhere = new Set([...known, ...vars, ...Object.keys(pathEnv)]);
  const named = namedVariables(source).filter((name) => !elsewhere.has(name) && !foreignNames.test(name) && (env[name] ?? "") !== "");
  const rows = [...Object.entries(pathEnv), ...named.map((name) => [name, env[name] as string] as const)].map(
    ([name, value]) => [name, quotedValue(value)] as const,
  );
  return {
    text: rows.flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}\n`])).join(""),
    unusable: rows.flatMap(([name, value]) => (value === undefined ? [name] : [])),
  };
}

/** Variables that a config names as `${NAME}` or by a reference with source `env`; sorted. */
export function namedVariables(source: unknown): string[] {
  const found = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value === "string") for (const [, name = ""] of value.matchAll(/\$\{([A-Za-z_]\w*)\}/g)) found.add(name);
    else if (Array.isArray(value)) value.forEach(visit);
    else if (isRecord(value)) {
      if (value.source === "env" && typeof value.id === "string" && /^[A-Za-z_]\w*$/.test(value.id)) found.add(value.id);
      Object.values(value).forEach(visit);
    }
  };
  visit(source);
  return [...found].sort();
}

/** A value as both systemd and Node read it, which escape differently: bare, or in quotes that it does not hold. Undefined: neither is possible. */
function quotedValue(value: string): string | undefined {
  if (/[\r\n\0]/.test(value)) return undefined;
  if (/^[\w@%+=:,./-]+$/.test(value)) return value;
  if (!value.includes("'")) return `'${value}'`;
  return /["\\$`]/.test(value) ? undefined : `"${value}"`;
}
