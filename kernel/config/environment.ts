import { parseDuration } from "../../sdk/config/amounts.ts";
import type { Env } from "../../sdk/types/common.ts";
import type { ConfigWarning } from "../../sdk/types/config-file.ts";
import { isLoaderName } from "../process/env-names.ts";
import { readShellEnv } from "../process/shell-env.ts";
import { substitute } from "./substitute.ts";

const SHELL_TIMEOUT_MS = 15_000;
const MAX_SHELL_TIMEOUT_MS = 600_000;

/** The environment of one config. */
export interface ConfigEnvironment {
  env: Env;
  /** Variables from the login shell, if it was started. */
  shellEnv?: Env;
  warnings: ConfigWarning[];
}

/**
 * The caller's environment, below it `env.vars`, below that what the login shell knows of credentials. Nothing overrides a set value.
 * Works on the tree before it is checked, because the check needs the substituted values.
 * @param options.shellEnv what an earlier load got from the shell, which is asked once; `false`: the shell is not asked at all
 */
export async function configEnvironment(
  source: unknown,
  options: { env: Env; shellEnv: Env | false | undefined },
): Promise<ConfigEnvironment> {
  const section = ((source as { env?: unknown } | null)?.env ?? {}) as {
    vars?: unknown;
    shellEnv?: { enabled?: unknown; timeoutMs?: unknown };
  };
  const warnings: ConfigWarning[] = [];
  const vars: Record<string, string> = {};
  const { value: substituted } = substitute(section.vars, options.env);
  for (const [name, value] of Object.entries(typeof substituted === "object" && substituted !== null ? substituted : {})) {
    if (typeof value !== "string") continue; // the schema will say so
    if (isLoaderName(name))
      warnings.push({ path: `env.vars.${name}`, message: "ignored: it decides which code runs; set it where svc is started" });
    else vars[name] = value;
  }
  const env: Env = { ...vars, ...defined(options.env) };
  const wantsShell = section.shellEnv?.enabled === true;
  if (!wantsShell || options.shellEnv === false) return { env, warnings };
  if (options.shellEnv) return { env: { ...options.shellEnv, ...env }, shellEnv: options.shellEnv, warnings };
  const { added, problem } = await readShellEnv(env, shellTimeout(section.shellEnv?.timeoutMs));
  if (problem) warnings.push({ path: "env.shellEnv", message: problem });
  return { env: { ...added, ...env }, shellEnv: added, warnings };
}

function shellTimeout(given: unknown): number {
  const ms = typeof given === "string" ? parseDuration(given) : given;
  return typeof ms === "number" && ms >= 1 ? Math.min(ms, MAX_SHELL_TIMEOUT_MS) : SHELL_TIMEOUT_MS;
}

function defined(env: Env): Env {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined));
}
