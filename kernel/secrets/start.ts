import type { SvcConfig } from "../../sdk/config/root.ts";

/**
 * Owners without whose secrets no gateway starts, because nobody could be told apart from anybody; and the one that a command needs for a gateway elsewhere,
 * which is not asked for where a gateway runs.
 */
export const startOwners: ReadonlySet<string> = new Set(["gateway.auth", "gateway.remote", "hooks.token"]);

/** Paths that grant more when an entry is missing: lists that admit everyone when they are empty, and everything that is denied. */
const lists = /^(gateway\.auth\.trustedProxy|gateway\.trustedProxies|hooks\.(token|allowed\w+))(\.|$)|\.deny\.\d+$/;

/** Flags that say who may come in; a secret given by hand needs no other. */
export interface AuthFlags {
  auth?: string | undefined;
  token?: string | undefined;
  password?: string | undefined;
}

/**
 * The first thing a gateway needs to judge its callers that is written in the config but has no value: a `${NAME}` that is not set, or a
 * SecretRef that failed. Nothing else may take its place: no environment variable, no new token.
 */
export function missingStartSecret(
  loaded: { unresolved: ReadonlyArray<{ path: string; reason: string }>; config?: SvcConfig },
  flags: AuthFlags = {},
): { path: string; reason: string } | undefined {
  const { config } = loaded;
  const mode = flags.auth ?? config?.gateway.auth.mode;
  return loaded.unresolved.find(({ path }) => {
    if (path === "gateway.auth.token" || path === "gateway.auth.password") {
      const kind = path === "gateway.auth.token" ? "token" : "password";
      const other = kind === "token" ? "password" : "token";
      if (mode !== undefined) return mode === kind && !flags[kind];
      return !flags[kind] && !flags[other];
    }
    if (path.startsWith("hooks.")) return config?.hooks.enabled === true && lists.test(path);
    return lists.test(path);
  });
}
