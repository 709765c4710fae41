import { knownIdsOf, unknownIdWarnings } from "../../sdk/config/known-ids.ts";
import { restoreLastGood } from "../../sdk/config/last-good.ts";
import { redactConfig } from "../../sdk/config/redact.ts";
import { type ConfigWriterHost, redactionOf, writeConfig } from "../../sdk/config/write.ts";
import type { CliConfigFile } from "../../sdk/types/cli.ts";
import type { Manifest } from "../../sdk/types/manifest.ts";
import { pluginConfigIssues } from "../config/plugin-config-issues.ts";
import { redactText } from "../config/redact-text.ts";

/** A profile's config file, for a command: the same rules and the same writer as in a gateway. */
export function createCliConfigFile(from: {
  host: ConfigWriterHost;
  manifests(): Promise<Manifest[]>;
  checkStart(): Promise<unknown>;
  /** The file may have been changed. */
  onWrite(): void;
}): CliConfigFile {
  const { host, manifests, onWrite } = from;
  return {
    path: host.path,
    parse: host.parse,
    load: () => host.load(),
    redacted: (tree, loaded) => redactConfig(tree, redactionOf(host, loaded)),
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
    async pluginWarnings() {
      const { config } = await host.load();
      return config ? unknownIdWarnings(config, knownIdsOf(await manifests())) : [];
    },
    async settings() {
      const loaded = await host.load();
      return { issues: (await host.issues?.(loaded)) ?? [], warnings: (await host.warnings?.(loaded)) ?? [] };
    },
    manifests,
  };
}

function parsedOrNothing(host: ConfigWriterHost, text: string): unknown {
  try {
    return host.parse(text);
  } catch {
    return undefined;
  }
}
