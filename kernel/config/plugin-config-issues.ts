import type { SvcConfig } from "../../sdk/config/root.ts";
import { sameValue } from "../../sdk/config/tree.ts";
import { isRecord } from "../../sdk/is-record.ts";
import { formatIssues } from "../../sdk/json-schema.ts";
import type { Manifest } from "../../sdk/types/manifest.ts";
import type { JsonSchema } from "../../sdk/types/schema.ts";
import { isolationProblem } from "../sandbox/isolation-support.ts";
import { ownChannelConfig } from "./compose-schema.ts";
import { channelIssues } from "./known-ids.ts";
import type { LoadedConfig } from "./loaded.ts";
import { validateOwnConfig } from "./own-config.ts";
import { absolutePath } from "./ui-hints.ts";

/** A config to be judged. */
export type Judged = Pick<LoadedConfig, "path" | "locate"> & { config: SvcConfig };

/**
 * Checks plugin and channel sections against the manifests: unknown channels, and values that do not fit their schemas.
 * @param before config in force: what is the same there is not this write's business. Undefined: everything is looked at
 */
export async function pluginConfigIssues(
  manifests: readonly Manifest[],
  after: Judged,
  before?: SvcConfig,
): Promise<Array<{ path: string; message: string }>> {
  const { config, path: file, locate } = after;
  const issues: Array<{ path: string; message: string }> = [];
  const judge = async (path: string, schema: JsonSchema, value: unknown) => {
    const result = await validateOwnConfig(schema, value);
    if (result.issues) issues.push({ path, message: formatIssues(result.issues) });
  };
  for (const manifest of manifests) {
    const [now, old] = [config.plugins.entries[manifest.id], before?.plugins.entries[manifest.id]];
    if (now?.config !== undefined && now.enabled !== false && !(before && sameValue(now, old))) {
      await judge(`plugins.entries.${manifest.id}.config`, manifest.configSchema ?? emptyConfig, now.config);
    }
    if (now?.isolation !== undefined && now.enabled !== false && now.isolation !== old?.isolation) {
      const message = isolationProblem(manifest, now.isolation);
      if (message) issues.push({ path: `plugins.entries.${manifest.id}.isolation`, message });
    }
    for (const [id, schema] of Object.entries(manifest.channelConfigs ?? {})) {
      const body = config.channels[id];
      if (!isRecord(body) || (before && sameValue(body, before.channels[id]))) continue;
      await judge(`channels.${id}`, schema, ownChannelConfig(body, schema));
    }
  }
  const unknown = channelIssues(config, { manifests, file, locate });
  return [...unknown.filter(({ path }) => before?.channels[path.slice("channels.".length)] === undefined), ...issues];
}

const emptyConfig = { type: "object", properties: {}, additionalProperties: false };

/** Config paths that plugins call secret, for redaction; absolute, `*` for one segment. */
export function secretPatterns(manifests: readonly Manifest[]): string[] {
  return manifests.flatMap((manifest) => [
    ...(manifest.secrets ?? []).map(({ path }) => absolutePath(manifest.id, path)),
    ...Object.entries(manifest.uiHints ?? {}).flatMap(([path, hint]) => (hint.sensitive ? [absolutePath(manifest.id, path)] : [])),
  ]);
}
