import type { PluginCandidate, SvcConfig, VendorPackages } from "svc/sdk";
import type { Evidence } from "./findings.ts";

/**
 * Plugins in use whose own packages are not installed. In use is one that loads at the start, one with an entry in the config, one whose channel, model provider
 * or embedding adapter is configured, and one whose service the plugin of such a provider or adapter wants; any other is loaded by its first user, who reports what is missing.
 */
export async function missingOfPlugins(
  candidates: readonly PluginCandidate[],
  { config, vendor }: { config: SvcConfig | undefined; vendor: VendorPackages },
): Promise<Evidence["packages"]> {
  const found: Evidence["packages"] = [];
  const usable = config ? candidates.filter(({ problem }) => !problem) : [];
  for (const { id, root, manifest } of usable) {
    const path = config && (pathOfUse(id, manifest, config) ?? pathOfUsers(manifest, usable, config));
    if (path === undefined) continue;
    const owner = { id, root, channels: manifest?.contributes?.channels };
    // Files that cannot be read are a matter of its author; they are named when it asks for a package.
    const missing = await vendor.missing(owner).catch(() => []);
    if (missing.length > 0) {
      found.push({ plugin: id, path, missing, command: vendor.command(owner), isOptional: manifest?.optionalPackages === true });
    }
  }
  return found;
}

/** Config that uses a model or an adapter of a plugin which wants a service of this one. */
function pathOfUsers(manifest: PluginCandidate["manifest"], others: readonly PluginCandidate[], config: SvcConfig): string | undefined {
  const services = manifest?.provides ?? [];
  const users = others.filter((other) => other.manifest?.requires?.some((name) => services.includes(name.replace(/\?$/, ""))));
  return users
    .map(({ manifest }) => manifest && (pathOfModel(manifest, config) ?? pathOfAdapter(manifest, config)))
    .find((path) => path !== undefined);
}

function pathOfUse(id: string, manifest: PluginCandidate["manifest"], config: SvcConfig): string | undefined {
  const { plugins, channels } = config;
  const channel = manifest?.contributes?.channels?.find((name) => {
    const section = (channels as Record<string, { enabled?: boolean } | undefined>)[name];
    return section !== undefined && section.enabled !== false;
  });
  if (channel !== undefined) return `channels.${channel}`;
  // One that is there for a service only, and can do without its packages, is used by who asks for that service.
  const isForOthers = manifest?.optionalPackages === true && (manifest.provides?.length ?? 0) > 0;
  const startsEagerly = !isForOthers && (manifest?.activation === undefined || manifest.activation === "startup");
  if (startsEagerly || plugins.entries[id] !== undefined) return `plugins.entries.${id}`;
  return pathOfModel(manifest, config) ?? pathOfAdapter(manifest, config);
}

/** An entry with an address is for a server, whatever its name. */
function pathOfModel(manifest: PluginCandidate["manifest"], { models }: SvcConfig): string | undefined {
  const entry = manifest?.contributes?.modelProviders?.find((name) => {
    const provider = Object.hasOwn(models.providers, name) ? models.providers[name] : undefined;
    return provider !== undefined && provider.baseUrl === undefined;
  });
  return entry === undefined ? undefined : `models.providers.${entry}`;
}

function pathOfAdapter(manifest: PluginCandidate["manifest"], { agents }: SvcConfig): string | undefined {
  const adapters = manifest?.contributes?.embeddingAdapters ?? [];
  const isNamed = (settings: SvcConfig["agents"]["defaults"]["memorySearch"]) => adapters.includes(settings?.provider ?? "");
  if (isNamed(agents.defaults.memorySearch)) return "agents.defaults.memorySearch.provider";
  const agent = agents.list.find(({ memorySearch }) => isNamed(memorySearch));
  return agent && `agents.list[id=${agent.id}].memorySearch.provider`;
}
