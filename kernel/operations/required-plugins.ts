import type { SvcConfig } from "../../sdk/config/root.ts";
import type { PluginRecord } from "../../sdk/types/plugin-record.ts";

/** The first plugin with `plugins.entries.<id>.required` that does not run, and why; undefined when all of them do. */
export function failedRequired(
  entries: SvcConfig["plugins"]["entries"],
  records: readonly PluginRecord[],
): { plugin: string; reason: string } | undefined {
  for (const [plugin, entry] of Object.entries(entries)) {
    const record = records.find((r) => r.id === plugin);
    if (!entry.required || record?.state === "active" || record?.state === "degraded") continue;
    return { plugin, reason: record?.reason ?? "not found" };
  }
  return undefined;
}
