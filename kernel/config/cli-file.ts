import { restoreLastGood } from "../../sdk/config/last-good.ts";
import { pluginConfigIssues } from "../../sdk/config/plugin-config-issues.ts";
import { redactConfig } from "../../sdk/config/redact.ts";
import { redactText } from "../../sdk/config/redact-text.ts";
import { redactionOf, writeConfig } from "../../sdk/config/write.ts";
import type { Env, ProfilePaths } from "../../sdk/host/paths.ts";
import type { CliConfigFile } from "../../sdk/types/cli.ts";
import type { Manifest } from "../../sdk/types/manifest.ts";
import { createConfigHost } from "./methods.ts";

/** A profile's config file, for a command: the same rules and the same writer as in a gateway. */
export function openConfigFile(from: {
  paths: ProfilePaths;
  env: Env;
  candidates(): Promise<Array<{ manifest: Manifest | undefined }>>;
}): CliConfigFile {
  const { paths, env } = from;
  let found: Promise<Manifest[]> | undefined;
  const manifests = () => (found ??= from.candidates().then((all) => all.flatMap(({ manifest }) => manifest ?? [])));
  const host = createConfigHost({ path: paths.configPath, env, manifests });
  return {
    path: paths.configPath,
    parse: host.parse,
    load: () => host.load(),
    redacted: (tree, loaded) => redactConfig(tree, redactionOf(host, loaded)),
    redactedText(text) {
      const parsed = parsedOrNothing(host.parse, text);
      return redactText(text, parsed, { ...host.redaction?.(), parse: host.parse });
    },
    write: (change, options) => writeConfig(host, change, options),
    restoreLastGood: (options) => restoreLastGood(host, options),
    async checkStart() {
      const { planStart } = await import("../start.ts");
      await planStart({ paths, env: { ...env, SVC_CONFIG_READONLY: "1" }, flags: { port: 0 }, listen: true });
    },
    async pluginIssues() {
      const loaded = await host.load();
      return loaded.config ? pluginConfigIssues(await manifests(), { ...loaded, config: loaded.config }) : [];
    },
    manifests,
  };
}

function parsedOrNothing(parse: (text: string) => unknown, text: string): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}
