import { type CliContext, defineCommand, isSvcError } from "svc/sdk";
import { withLiveGateway } from "./live-client.ts";
import { notesOf, reasonOf, type WirePlugin } from "./plugin-rows.ts";

interface PluginRow {
  id: string;
  version: string;
  name: string;
  description: string;
  origin: string;
  enabled: boolean;
  state: string;
  reason?: string;
  hint?: string;
  /** Further notes about the plugin; from a running gateway only. */
  notes?: string[];
}

/** `svc plugins list`: from the manifests, and from the running gateway what became of them. */
export default defineCommand({
  path: ["plugins", "list"],
  summary: "List plugins with their state and the reason for it",
  details: "Without a running gateway the list comes from the manifests alone; no plugin code is run.",
  options: { json: { kind: "flag", description: "One JSON document on stdout" } },
  rpc: true,
  run: async (cli) => {
    const live = await liveRows(cli);
    const plugins = (live.rows ?? (await cli.manifests())).toSorted((a, b) => (a.id < b.id ? -1 : 1));
    if (cli.json) cli.stdout.json({ ok: true, source: live.rows ? "gateway" : "manifests", gateway: live.gateway, plugins });
    else print(cli, plugins, live);
    return 0;
  },
});

/** Plugins as a running gateway reports them, or the reason why it reports none. */
interface Live {
  gateway: "running" | "silent" | "none";
  rows?: PluginRow[];
}

async function liveRows(cli: CliContext): Promise<Live> {
  try {
    const answer = await withLiveGateway(cli, (client) => client.request("plugins.list", {}));
    return answer ? { gateway: "running", rows: answer.plugins.map(toRow) } : { gateway: "none" };
  } catch (error) {
    if (!isSvcError(error)) throw error;
    cli.stderr.line(`${error.message}; showing manifests only`);
    return { gateway: (await cli.lockOwner()) ? "silent" : "none" };
  }
}

/** Row of a plugin that a running gateway reports, with what only such a one knows. */
type LiveRow = PluginRow & Pick<WirePlugin, "hooks" | "diagnostics"> & Pick<WirePlugin["runtime"], "instance" | "isolation" | "lastReload">;

function toRow(plugin: WirePlugin): LiveRow {
  const { id, version, name, description, origin, enabled, runtime, hooks = [], diagnostics = [] } = plugin;
  const { state, hint, isolation, lastReload, instance } = runtime;
  const [reason, notes] = [reasonOf(runtime), notesOf(plugin)];
  return {
    id,
    version,
    name,
    description,
    origin,
    enabled,
    state,
    instance,
    hooks,
    diagnostics,
    ...(reason ? { reason } : {}),
    ...(hint ? { hint } : {}),
    ...(isolation ? { isolation } : {}),
    ...(lastReload ? { lastReload } : {}),
    ...(notes.length > 0 ? { notes } : {}),
  };
}

function print(cli: CliContext, plugins: readonly PluginRow[], live: Live): void {
  cli.stdout.table(
    ["ID", "VERSION", "ORIGIN", "STATE", "ABOUT"],
    plugins.map((p) => [p.id, p.version, p.origin, p.state, p.reason ?? p.description]),
  );
  for (const p of plugins) for (const note of p.notes ?? (p.hint ? [p.hint] : [])) cli.stdout.line(cli.color.dim(`${p.id}: ${note}`));
  const why = { running: undefined, silent: "A gateway runs here and does not answer", none: "No gateway runs here" }[live.gateway];
  if (why) cli.stdout.line(cli.color.dim(`${why}: states are those of the manifests and the config.`));
}
