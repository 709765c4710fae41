import { timingSafeEqual } from "node:crypto";
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

/** Does a name in the tailnet count? Unless the config says so, with `tailscale serve` only. */
export function isTailnetAllowed({ auth, tailscale }: SvcConfig["gateway"]): boolean {
  return auth.allowTailscale ?? tailscale.mode === "serve";
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

/** Bytes that each comparison covers: more than a common secret has, so that its length does not show in the time. */
const COMPARED_BYTES = 256;

/** Compares in constant time: each candidate is copied into a block of one size. A digest of every candidate would cost as much as the rest of a small request. */
export function createSecretCheck(secret: string): (candidate: string) => boolean {
  const bytes = Buffer.byteLength(secret);
  const expected = Buffer.alloc(Math.max(COMPARED_BYTES, bytes));
  const given = Buffer.alloc(expected.length);
  expected.write(secret);
  return (candidate) => {
    given.fill(0, given.write(candidate));
    // Comparing lengths catches bytes beyond the block, and zeros at the end.
    return timingSafeEqual(given, expected) && Buffer.byteLength(candidate) === bytes;
  };
}
