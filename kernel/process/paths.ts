import { homedir } from "node:os";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { commonErrors } from "../../sdk/errors.ts";
import type { Env } from "../../sdk/types/common.ts";
import { hostErrors } from "./errors.ts";

/** Paths of one profile. All are absolute. */
export interface ProfilePaths {
  /** `""` = the default profile. */
  readonly profile: string;
  readonly stateDir: string;
  readonly stateDirSource: "SVC_STATE_DIR" | "profile" | "default";
  readonly configPath: string;
  readonly configPathSource: "SVC_CONFIG_PATH" | "state dir";
}

const reservedProfiles = new Set(["gateway", "node"]);
const DEV_PORT = 19001;
const DEFAULT_PORT = 18789;

/** An environment value; blank, `undefined` and `null` count as unset. */
export function envValue(env: Env, name: string): string | undefined {
  const value = env[name]?.trim();
  return value === undefined || value === "" || value === "undefined" || value === "null" ? undefined : value;
}

/**
 * State directory and config file: explicit variables beat what the profile implies.
 * @param options.profile of the command line; beats `SVC_PROFILE`
 * @throws {SvcError} `invalid-profile`
 */
export function resolvePaths(options: { env: Env; profile?: string | undefined; cwd?: string }): ProfilePaths {
  const { env } = options;
  const profile = resolveProfile(options.profile ?? envValue(env, "SVC_PROFILE"));
  const home = envValue(env, "SVC_HOME") ?? envValue(env, "HOME") ?? envValue(env, "USERPROFILE") ?? homedir();
  const absolute = (path: string) => {
    const expanded = path === "~" || path.startsWith("~/") ? join(home, path.slice(1)) : path;
    return isAbsolute(expanded) ? expanded : resolve(options.cwd ?? process.cwd(), expanded);
  };
  const ownState = envValue(env, "SVC_STATE_DIR");
  const stateDir = ownState ? absolute(ownState) : absolute(join(home, profile === "" ? ".svc" : `.svc-${profile}`));
  const ownConfig = envValue(env, "SVC_CONFIG_PATH");
  return {
    profile,
    stateDir,
    stateDirSource: ownState ? "SVC_STATE_DIR" : profile === "" ? "default" : "profile",
    configPath: ownConfig ? absolute(ownConfig) : join(stateDir, "svc.json"),
    configPathSource: ownConfig ? "SVC_CONFIG_PATH" : "state dir",
  };
}

/** Port in the specified order: flag, `SVC_GATEWAY_PORT`, `gateway.port`, default of the profile. */
export function resolvePort(options: { flag?: number | undefined; env: Env; config?: number | undefined; profile: string }): {
  port: number;
  source: "flag" | "env" | "config" | "default";
} {
  if (options.flag !== undefined) return { port: options.flag, source: "flag" };
  const raw = envValue(options.env, "SVC_GATEWAY_PORT");
  if (raw !== undefined) {
    const port = Number(raw);
    if (!Number.isInteger(port) || port < 0 || port > 65535) {
      throw commonErrors.invalidConfig({ message: `SVC_GATEWAY_PORT: expected an integer from 1 to 65535, got "${raw}"` });
    }
    return { port, source: "env" };
  }
  if (options.config !== undefined) return { port: options.config, source: "config" };
  return { port: options.profile === "dev" ? DEV_PORT : DEFAULT_PORT, source: "default" };
}

/** Root of the installed package: the folder of `package.json`, from sources and from `dist` alike. */
export function packageRoot(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  return here.includes(`${join("dist", "kernel")}`) ? resolve(here, "../../..") : resolve(here, "../..");
}

/** True when this code runs compiled. */
export function runsFromDist(): boolean {
  return import.meta.url.endsWith(".js");
}

function resolveProfile(name: string | undefined): string {
  if (name === undefined || name === "default") return "";
  if (!/^[a-z0-9][a-z0-9_-]{0,63}$/.test(name) || reservedProfiles.has(name)) throw hostErrors.invalidProfile({ profile: name });
  return name;
}
