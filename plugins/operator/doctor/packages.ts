import type { PluginCandidate, SvcConfig, VendorPackages } from "svc/sdk";
import type { Evidence } from "./findings.ts";

/**
 * Plugins in use whose own packages are not installed. In use is one that loads at the start, one with an entry in the config, and one with a channel that is
 * configured; any other is loaded by its first user, who reports what is missing.
 */
export async function missingOfPlugins(
  candidates: readonly PluginCandidate[],
  { config, vendor }: { config: SvcConfig | undefined; vendor: VendorPackages },
): Promise<Evidence["packages"]> {
  const found: Evidence["packages"] = [];
  for (const { id, root, manifest, problem } of candidates) {
    const path = problem || !config ? undefined : pathOfUse(id, manifest, config);
    if (path === undefined) continue;
    const owner = { id, root, channels: manifest?.contributes?.channels };
    // Files that cannot be read are a matter of its author; they are named when it asks for a package.
    const missing = await vendor.missing(owner).catch(() => []);
    if (missing.length > 0) found.push({ plugin: id, path, missing, command: vendor.command(owner) });
  }
  return found;
}

function pathOfUse(id: string, manifest: PluginCandidate["manifest"], { plugins, channels }: SvcConfig): string | undefined {
  const channel = manifest?.contributes?.channels?.find((name) => {
    const section = (channels as Record<string, { enabled?: boolean } | undefined>)[name];
    return section !== undefined && section.enabled !== false;
  });
  if (channel !== undefined) return `channels.${channel}`;
  const startsEagerly = manifest?.activation === undefined || manifest.activation === "startup";
  return startsEagerly || plugins.entries[id] !== undefined ? `plugins.entries.${id}` : undefined;
}
