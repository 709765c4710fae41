import { type CliContext, defineCommand, isSvcError } from "svc/sdk";
import { printTable } from "./text.ts";
import { withClient } from "./with-client.ts";

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
}

interface WireRow extends Omit<PluginRow, "state" | "reason"> {
  runtime: { state: string; code?: string; reason?: string; hint?: string };
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
    const plugins = (live ?? (await cli.manifests())).toSorted((a, b) => (a.id < b.id ? -1 : 1));
    if (cli.json) cli.stdout.json({ ok: true, source: live ? "gateway" : "manifests", plugins });
    else print(cli, plugins, live !== undefined);
    return 0;
  },
});

/** Undefined when no gateway answers; why it does not is said on stderr. */
async function liveRows(cli: CliContext): Promise<PluginRow[] | undefined> {
  if (!(await cli.lockOwner()) && (await cli.target()).portSource !== "flag") return undefined;
  try {
    const { plugins } = await withClient(cli, (client) => client.request<{ plugins: WireRow[] }>("plugins.list", {}));
    return plugins.map(({ id, version, name, description, origin, enabled, runtime }) => ({
      ...{ id, version, name, description, origin, enabled, state: runtime.state },
      ...(runtime.reason ? { reason: `${runtime.code ? `${runtime.code}: ` : ""}${runtime.reason}` } : {}),
      ...(runtime.hint ? { hint: runtime.hint } : {}),
    }));
  } catch (error) {
    if (!isSvcError(error)) throw error;
    cli.stderr.line(`${error.message}; showing manifests only`);
    return undefined;
  }
}

function print(cli: CliContext, plugins: readonly PluginRow[], live: boolean): void {
  printTable(
    cli,
    ["ID", "VERSION", "ORIGIN", "STATE", "ABOUT"],
    plugins.map((p) => [p.id, p.version, p.origin, p.state, p.reason ?? p.description]),
  );
  for (const p of plugins) if (p.hint) cli.stdout.line(cli.color.dim(`${p.id}: ${p.hint}`));
  if (!live) cli.stdout.line(cli.color.dim("No gateway runs here: states are those of the manifests and the config."));
}
