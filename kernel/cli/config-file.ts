import type { CliConfigFile } from "../../sdk/types/cli.ts";
import type { Env, JsonObject } from "../../sdk/types/common.ts";
import type { Manifest } from "../../sdk/types/manifest.ts";
import { configTexts, refillText } from "../config/config-copy.ts";
import { createConfigHost } from "../config/config-host.ts";
import { knownIdsOf, unknownIdWarnings } from "../config/known-ids.ts";
import { restoreLastGood } from "../config/last-good.ts";
import { applyMergePatch } from "../config/merge-patch.ts";
import { parsedOrNothing, parseJson5 } from "../config/parse-json5.ts";
import { pluginConfigIssues } from "../config/plugin-config-issues.ts";
import { redactConfig } from "../config/redact.ts";
import { redactText } from "../config/redact-text.ts";
import { redactionOf, writeConfig } from "../config/write.ts";
import type { ProfilePaths } from "../process/paths.ts";

/** A profile's config file, for a command: the same rules and the same writer as in a gateway. */
export function openConfigFile(
  { paths, env }: { paths: ProfilePaths; env: Env },
  found: {
    manifests(): Promise<Manifest[]>;
    /** The file may have been changed. */
    onWrite(): void;
  },
): CliConfigFile {
  const { manifests, onWrite } = found;
  const host = createConfigHost({ path: paths.configPath, env, stateDir: paths.stateDir, manifests });
  const compose = async () => (await import("../config/compose-schema.ts")).composeConfigSchema(await manifests());
  return {
    path: host.path,
    parse: parseJson5,
    merge: applyMergePatch,
    load: () => host.load(),
    redacted: (tree, loaded) => redactConfig(tree, loaded && redactionOf(host, loaded)),
    redactedText: (text) => redactText(text, parsedOrNothing(text), { ...host.redaction?.(), repeated: true }),
    async texts() {
      const loaded = await host.load();
      return configTexts(loaded, { ...host.redaction?.() });
    },
    refilled: refillText,
    write: (change, options) => writeConfig(host, change, options).finally(onWrite),
    restoreLastGood: (options) => restoreLastGood(host, options).finally(onWrite),
    async checkStart() {
      const { checkNextStart } = await import("../boot/start-plan.ts");
      await checkNextStart({ paths, env });
    },
    async pluginIssues() {
      const loaded = await host.load();
      return loaded.config ? pluginConfigIssues(await manifests(), { ...loaded, config: loaded.config }) : [];
    },
    async pluginWarnings({ config: given, plugins = [] } = {}) {
      const config = given ?? (await host.load()).config;
      const known = knownIdsOf(await manifests());
      return config ? unknownIdWarnings(config, { ...known, plugins: new Set([...known.plugins, ...plugins]) }) : [];
    },
    async settings() {
      const loaded = await host.load();
      return { issues: (await host.issues?.(loaded)) ?? [], warnings: (await host.warnings?.(loaded)) ?? [] };
    },
    manifests,
    schema: async () => (await compose()).schema as JsonObject,
    async keySchema(path) {
      const [{ lookupSchema }, { composeConfigSchema }] = await Promise.all([
        import("../config/lookup-schema.ts"),
        import("../config/compose-schema.ts"),
      ]);
      return lookupSchema(composeConfigSchema([]), path)?.schema as JsonObject | undefined;
    },
    types: async () => (await import("../config/config-types.ts")).configTypes(await compose()),
  };
}
