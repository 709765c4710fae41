import { formatIssues, toSchema } from "../json-schema.ts";
import type { Manifest } from "../types/manifest.ts";
import type { SvcConfig } from "./root.ts";
import { sameValue } from "./tree.ts";
import { absolutePath } from "./ui-hints.ts";

/**
 * What manifests find wrong with the parts that a write would change; what was wrong before is not this write's business.
 * @param before effective config in force; undefined: everything is looked at
 */
export async function pluginConfigIssues(
  manifests: readonly Manifest[],
  after: SvcConfig,
  before?: SvcConfig,
): Promise<Array<{ path: string; message: string }>> {
  const issues: Array<{ path: string; message: string }> = [];
  for (const manifest of manifests) {
    const [now, old] = [after.plugins.entries[manifest.id], before?.plugins.entries[manifest.id]];
    if (now?.config === undefined || now.enabled === false || (before && sameValue(now, old))) continue;
    const path = `plugins.entries.${manifest.id}.config`;
    const result = await toSchema(manifest.configSchema ?? emptyConfig)["~standard"].validate(now.config);
    if (result.issues) issues.push({ path, message: formatIssues(result.issues) });
  }
  return issues;
}

const emptyConfig = { type: "object", properties: {}, additionalProperties: false };

/** Config paths that plugins call secret, for redaction; absolute, `*` for one segment. */
export function secretPatterns(manifests: readonly Manifest[]): string[] {
  return manifests.flatMap((manifest) => [
    ...(manifest.secrets ?? []).map(({ path }) => absolutePath(manifest.id, path)),
    ...Object.entries(manifest.uiHints ?? {}).flatMap(([path, hint]) => (hint.sensitive ? [absolutePath(manifest.id, path)] : [])),
  ]);
}
