import type { CliConfigFile } from "../../sdk/types/cli.ts";
import type { JsonObject } from "../../sdk/types/common.ts";
import type { Manifest } from "../../sdk/types/manifest.ts";
import { knownIdsOf, unknownIdWarnings } from "../config/known-ids.ts";
import { restoreLastGood } from "../config/last-good.ts";
import { pluginConfigIssues } from "../config/plugin-config-issues.ts";
import { redactConfig } from "../config/redact.ts";
import { redactText } from "../config/redact-text.ts";
import { type ConfigWriterHost, redactionOf, writeConfig } from "../config/write.ts";

/** A profile's config file, for a command: the same rules and the same writer as in a gateway. */
export function createCliConfigFile(from: {
  host: ConfigWriterHost;
  manifests(): Promise<Manifest[]>;
  checkStart(): Promise<unknown>;
  /** The file may have been changed. */
  onWrite(): void;
}): CliConfigFile {
  const { host, manifests, onWrite } = from;
  const compose = async () => (await import("../config/compose-schema.ts")).composeConfigSchema(await manifests());
  return {
    path: host.path,
    parse: host.parse,
    load: () => host.load(),
    redacted: (tree, loaded) => redactConfig(tree, loaded && redactionOf(host, loaded)),
    redactedText: (text) => redactText(text, parsedOrNothing(host, text), { ...host.redaction?.(), repeated: true, parse: host.parse }),
    write: (change, options) => writeConfig(host, change, options).finally(onWrite),
    restoreLastGood: (options) => restoreLastGood(host, options).finally(onWrite),
    async checkStart() {
      await from.checkStart();
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

function parsedOrNothing(host: ConfigWriterHost, text: string): unknown {
  try {
    return host.parse(text);
  } catch {
    return undefined;
  }
}
