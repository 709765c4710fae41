import { messageOf } from "../../sdk/errors.ts";
import { isRecord } from "../../sdk/is-record.ts";
import type { Env } from "../../sdk/types/common.ts";
import type { ResolvedAuth } from "../auth/resolve-auth.ts";
import { loadSecrets } from "../config/load.ts";
import type { LoadedConfig } from "../config/loaded.ts";
import { type ConfigWriterHost, writeConfig } from "../config/write.ts";

/** Values that a first start adds to the config, so that the next start uses the same ones. */
export interface Seeds {
  token?: string;
}

/** Input for the decision about seeds. */
export interface SeedQuestion {
  loaded: LoadedConfig;
  /** As decided for this start; source `runtime` = made up, because nothing is configured. */
  auth: ResolvedAuth;
}

/** The seeds of this start: a token where no secret is configured at all. */
export function seedsOf({ loaded, auth }: SeedQuestion): Seeds {
  const gateway = loaded.config?.gateway;
  if (!loaded.exists || gateway?.mode !== "local") return {};
  const hasToken = auth.source === "runtime" && auth.mode === "token" && auth.secret !== undefined;
  return hasToken && auth.secret ? { token: auth.secret } : {};
}

/**
 * Writes the seeds into the config by the one write pipeline. What cannot be written holds for this run only.
 * @returns the config as it is afterwards, and what to tell; no value is in a note
 */
export async function plantSeeds(
  loaded: LoadedConfig,
  seeds: Seeds,
  options: { host: ConfigWriterHost; env: Env },
): Promise<{ loaded: LoadedConfig; written: boolean; notes: string[] }> {
  if (seeds.token === undefined) return { loaded, written: false, notes: [] };
  const what = "gateway.auth.token";
  try {
    const { after } = await writeConfig(
      options.host,
      { kind: "edit", apply: (source) => withSeeds(source, seeds) },
      { baseHash: loaded.hash },
    );
    const next = await loadSecrets({ ...after, refs: loaded.refs }, { env: options.env, secrets: "start", fresh: true });
    return { loaded: next, written: true, notes: [`first start: wrote ${what} to ${loaded.path}`] };
  } catch (error) {
    return {
      loaded,
      written: false,
      notes: [`first start: ${what} holds for this run only, because it could not be written: ${messageOf(error)}`],
    };
  }
}

/** A copy of a source tree with the seeds in it. */
export function withSeeds(source: unknown, { token }: Seeds): unknown {
  const member = (tree: unknown, key: string, change: (inner: Record<string, unknown>) => Record<string, unknown>) => {
    const inner = isRecord(tree) ? tree[key] : undefined;
    return { ...(isRecord(tree) ? tree : {}), [key]: change(isRecord(inner) ? inner : {}) };
  };
  return member(source, "gateway", (gateway) => (token ? member(gateway, "auth", (auth) => ({ ...auth, token })) : gateway));
}
