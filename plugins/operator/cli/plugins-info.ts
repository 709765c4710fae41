import { type CliContext, defineCommand, type PluginCandidate, printableLine } from "svc/sdk";
import { sharedErrors } from "svc/sdk/internal";
import { withLiveGateway } from "./live-client.ts";
import { notesOf, reasonOf, type WirePlugin } from "./plugin-rows.ts";
import { formatTime } from "./text.ts";

interface Inspected {
  plugin: WirePlugin;
  source: { origin: string; root: string; installed: boolean; entry?: string };
  declared: Record<string, string[]>;
  permissions: string[];
  configSchema?: unknown;
  homepage?: string;
}

/** `svc plugins info <id>`: everything about one plugin. */
export default defineCommand({
  path: ["plugins", "info"],
  summary: "Show everything about one plugin",
  details: "Without a running gateway it comes from the manifest alone; no plugin code is run.",
  positionals: [{ name: "id", required: true }],
  options: { json: { kind: "flag", description: "One JSON document on stdout" } },
  rpc: true,
  run: async (cli, _values, [id = ""]) => {
    const live = await withLiveGateway(cli, (client) => client.request("plugins.inspect", { pluginId: id }));
    const found = live ?? fromManifest(await candidateOf(cli, id));
    const { source: from, ...rest } = found;
    if (cli.json) cli.stdout.json({ ok: true, source: live ? "gateway" : "manifests", from, ...rest });
    else print(cli, found);
    return 0;
  },
});

async function candidateOf(cli: CliContext, id: string): Promise<PluginCandidate> {
  const found = (await cli.candidates()).find((c) => c.id === id && c.problem?.code !== "duplicate-id");
  if (!found) throw sharedErrors.pluginNotInstalled({ id });
  return found;
}

function fromManifest({ id, version, origin, root, installed, entry, manifest, problem }: PluginCandidate): Inspected {
  const { name = id, description = "", contributes = {}, permissions = [], configSchema, homepage } = manifest ?? {};
  const runtime = {
    state: problem?.state ?? "ready",
    since: 0,
    instance: 0,
    ...(problem ? { code: problem.code, reason: problem.reason } : {}),
  };
  return {
    plugin: {
      id,
      version,
      name,
      description,
      origin,
      enabled: !problem,
      runtime: { ...runtime, ...(problem?.hint ? { hint: problem.hint } : {}) },
    },
    source: { origin, root, installed: installed === true, ...(entry ? { entry } : {}) },
    declared: contributes as Record<string, string[]>,
    permissions,
    ...(configSchema ? { configSchema } : {}),
    ...(homepage ? { homepage } : {}),
  };
}

function print(cli: CliContext, { plugin, source, declared, permissions, configSchema, homepage }: Inspected): void {
  const { runtime } = plugin;
  const reason = reasonOf(runtime);
  const keys = Object.keys((configSchema as { properties?: object } | undefined)?.properties ?? {});
  const lines: Array<[string, string | undefined]> = [
    ["version", plugin.version],
    ["about", plugin.description],
    ["homepage", homepage],
    ["from", `${source.origin}${source.installed ? ", installed" : ""}: ${source.root}`],
    ["state", `${runtime.state}${runtime.since ? ` since ${formatTime(runtime.since)}` : ""}${reason ? ` (${reason})` : ""}`],
    ["instance", runtime.instance ? `${runtime.instance}${runtime.ms === undefined ? "" : `, loaded in ${runtime.ms} ms`}` : undefined],
    ...Object.entries(declared).map(([kind, names]): [string, string | undefined] => [kind, names.join(", ")]),
    ["permissions", permissions.join(", ")],
    ["config", keys.length > 0 ? `plugins.entries.${plugin.id}.config: ${keys.join(", ")}` : undefined],
  ];
  cli.stdout.line(cli.color.bold(`${plugin.id}  ${plugin.name}`));
  for (const [label, value] of lines) if (value) cli.stdout.line(`  ${label.padEnd(14)} ${printableLine(value)}`);
  for (const note of notesOf(plugin)) cli.stdout.line(cli.color.dim(`  ${note}`));
}
