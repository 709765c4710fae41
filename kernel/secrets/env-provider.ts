import type { EnvProvider, SecretAnswer, SecretQuestion } from "./provider.ts";

/** Secrets from environment variables; a missing or empty one fails. */
export function askEnv(provider: EnvProvider, { ids, env }: SecretQuestion): Map<string, SecretAnswer> {
  return new Map(
    ids.map((name): [string, SecretAnswer] => {
      if (provider.allowlist && !provider.allowlist.includes(name)) return [name, { reason: `variable ${name} is not in the allowlist` }];
      const value = env[name];
      return [name, value ? { value } : { reason: `variable ${name} is ${value === undefined ? "not set" : "empty"}` }];
    }),
  );
}
