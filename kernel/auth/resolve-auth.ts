import { hash, timingSafeEqual } from "node:crypto";
import type { SvcConfig } from "../../sdk/config/root.ts";
import type { Env } from "../../sdk/types/common.ts";
import { envValue } from "../process/paths.ts";

export type AuthMode = "token" | "password" | "trusted-proxy" | "none";
export type SecretSource = "flag" | "config" | "env" | "runtime" | "none";

export interface ResolvedAuth {
  mode: AuthMode;
  /** The shared secret of the mode; with `trusted-proxy` the password of local callers. Undefined with mode `none` or when nothing is set. */
  secret: string | undefined;
  source: SecretSource;
}

/** The mode and the one shared secret, the same way for server and local CLI: flag, then config, then environment. */
export function resolveAuth(options: {
  config: SvcConfig | undefined;
  env: Env;
  flags?: { auth?: string | undefined; token?: string | undefined; password?: string | undefined } | undefined;
}): ResolvedAuth {
  const { config, env, flags } = options;
  const auth = config?.gateway.auth;
  const token = pick(flags?.token, auth?.token, envValue(env, "SVC_GATEWAY_TOKEN"));
  const password = pick(flags?.password, auth?.password, envValue(env, "SVC_GATEWAY_PASSWORD"));
  const mode = (flags?.auth ?? auth?.mode ?? (password.value && !token.value ? "password" : "token")) as AuthMode;
  if (mode === "none") return { mode, secret: undefined, source: "none" };
  const chosen = mode === "token" ? token : password;
  return { mode, secret: chosen.value, source: chosen.source };
}

function pick(
  flag: string | undefined,
  config: string | undefined,
  env: string | undefined,
): { value: string | undefined; source: SecretSource } {
  if (flag) return { value: flag, source: "flag" };
  if (config) return { value: config, source: "config" };
  return env ? { value: env, source: "env" } : { value: undefined, source: "none" };
}

/** Compares digests in constant time; the secret's own digest is made once. */
export function createSecretCheck(secret: string): (candidate: string) => boolean {
  const digest = sha256(secret);
  return (candidate) => timingSafeEqual(sha256(candidate), digest);
}

function sha256(text: string): Buffer {
  return hash("sha256", text, "buffer");
}
