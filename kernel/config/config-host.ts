import type { Env } from "../../sdk/types/common.ts";
import type { ConfigWarning } from "../../sdk/types/config-file.ts";
import type { Manifest } from "../../sdk/types/manifest.ts";
import type { StartFlags } from "../process/start-flags.ts";
import { missingStartSecret } from "../secrets/start.ts";
import { loadConfig, loadSecrets } from "./load.ts";
import type { LoadedConfig } from "./loaded.ts";
import { pluginConfigIssues, secretPatterns } from "./plugin-config-issues.ts";
import { type SettingQuestion, settingIssues, settingWarnings } from "./setting-checks.ts";
import type { ConfigWriterHost } from "./write.ts";

export interface ConfigHostOptions {
  path: string;
  env: Env;
  stateDir: string;
  manifests(): Manifest[] | Promise<Manifest[]>;
  /** Model providers of the plugins that run; a command knows none. */
  modelProviders?(): string[];
  /** Set in a gateway: a candidate without the secrets that a start needs is refused. Commands run in shells that lack its environment. */
  flags?: StartFlags;
  /** The environment as `.env` files say now, which may have gained the variable that a change names; default: `env`. */
  readEnv?: (() => Promise<Env>) | undefined;
}

/** Creates the host of the config writers, for a gateway and for a command. */
export function createConfigHost({ path, env, readEnv, stateDir, manifests, modelProviders, flags }: ConfigHostOptions): ConfigWriterHost {
  let patterns: string[] = [];
  const about = async <T>(loaded: LoadedConfig, look: (question: SettingQuestion) => Promise<T[]>): Promise<T[]> => {
    if (!loaded.config) return [];
    const found = await manifests();
    return look({ loaded: { ...loaded, config: loaded.config }, stateDir, manifests: found, modelProviders: modelProviders?.() ?? [] });
  };
  return {
    path,
    readonly: env.SVC_CONFIG_READONLY === "1",
    async load(overlay) {
      patterns = secretPatterns(await manifests());
      return loadConfig(path, { env, overlay, secrets: "none" });
    },
    async check(after, before) {
      const missing = flags && missingStartSecret(await loadSecrets(after, { env: (await readEnv?.()) ?? env }), flags);
      if (missing) return [{ path: missing.path, message: missing.reason }];
      const own = after.config ? await pluginConfigIssues(await manifests(), { ...after, config: after.config }, before.config) : [];
      const [old, now] = [await about(before, settingIssues), await about(after, settingIssues)];
      return [...own, ...newOf(now, old)];
    },
    issues: (loaded) => about(loaded, settingIssues),
    warnings: (loaded) => about(loaded, settingWarnings),
    redaction: () => ({ patterns }),
  };
}

/** Problems that this write brings: the config did not have them before. */
function newOf(now: readonly ConfigWarning[], old: readonly ConfigWarning[]): ConfigWarning[] {
  return now.filter(({ path, message }) => !old.some((one) => one.path === path && one.message === message));
}
