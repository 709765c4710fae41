import { stat } from "node:fs/promises";
import type { CliContext, InstalledPlugins, SvcConfig } from "svc/sdk";
import { listLive } from "../cli/live.ts";
import type { Evidence } from "./findings.ts";
import { checkImports } from "./import-check.ts";

/**
 * Looks at everything: disk, records, config and the running gateway. Without one the modules are imported in a process of their own.
 * @throws {SvcError} `install-index-invalid`, `client-unauthorized`: the check could not be made
 */
export async function gatherEvidence(cli: CliContext): Promise<Evidence> {
  const installed = await cli.installedPlugins();
  const [candidates, index, file, live] = await Promise.all([cli.candidates(), installed.read(), cli.configFile(), listLive(cli)]);
  const { config } = (await cli.config()) as { config: SvcConfig | undefined };
  // A plugin of one file has an id and no manifest.
  const plugins = candidates.map((c) => c.id);
  const unknown = config ? (await file.pluginWarnings({ config, plugins })).filter(({ path }) => path.startsWith("plugins.")) : [];
  const invalid = config ? await file.pluginIssues() : [];
  const loadable = candidates.filter((c) => !c.problem).map((c) => c.id);
  return {
    candidates,
    index,
    live: live && new Map(live.plugins.filter((p) => p.runtime.code !== "duplicate-id").map((p) => [p.id, p.runtime])),
    diagnostics: live?.diagnostics ?? [],
    imports: live ? new Map() : await checkImports(cli, loadable),
    intact: await intactOf(installed, index, cli.signal),
    config: [
      ...unknown.map((w) => ({ ...w, severity: "warning" as const })),
      ...invalid.map((i) => ({ ...i, severity: "error" as const })),
    ],
    grants: new Map(Object.entries(config?.plugins.entries ?? {}).map(([id, entry]) => [id, entry.grants ?? []])),
  };
}

async function intactOf(installed: InstalledPlugins, index: Evidence["index"], signal: AbortSignal): Promise<Map<string, boolean>> {
  const intact = new Map<string, boolean>();
  for (const [id, record] of Object.entries(index.plugins)) {
    const folder = installed.folder(id);
    if (!(await stat(folder).catch(() => undefined))?.isDirectory()) continue;
    intact.set(id, (await installed.integrityOf(folder, { signal })) === record.integrity);
  }
  return intact;
}
