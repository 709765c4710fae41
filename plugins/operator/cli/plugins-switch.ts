import { type CliClient, type CliCommand, type CliContext, defineCommand, isRecord, messageOf } from "svc/sdk";
import { sharedErrors } from "svc/sdk/internal";
import { withLiveGateway } from "./live-client.ts";

/** `svc plugins enable|disable <id>`: in the config, and at once in a running gateway. */
export default [command("enable", true), command("disable", false)];

function command(word: "enable" | "disable", enabled: boolean): CliCommand {
  return defineCommand({
    path: ["plugins", word],
    summary: enabled ? "Switch a plugin on" : "Switch a plugin off; its config is kept",
    details:
      "Written to plugins.entries.<id>.enabled. A running gateway applies it at once, without a restart and without touching other plugins.",
    positionals: [{ name: "id", required: true }],
    options: { json: { kind: "flag", description: "One JSON document on stdout" } },
    rpc: true,
    run: async (cli, values, [id = ""]) => {
      const ask = (client: CliClient) => client.request("plugins.setEnabled", { pluginId: id, enabled });
      let refusal: string | undefined;
      const live = await withLiveGateway(cli, ask).catch((error: unknown) => {
        // A plugin whose gate is broken refuses its own end too; the file of this machine is the way out.
        if (enabled || typeof values.url === "string" || !isRefusalOf(id, error)) throw error;
        refusal = messageOf(error);
        return undefined;
      });
      if (!live) await writeEntry(cli, id, enabled);
      if (!live && enabled) await cli.liftQuarantine(id);
      const warnings = live?.warnings ?? [];
      const state = live?.plugin.runtime.state;
      if (cli.json)
        cli.stdout.json({
          ok: warnings.length === 0,
          id,
          enabled,
          ...(state ? { state } : {}),
          warnings,
          restartRequired: live?.restartRequired ?? false,
        });
      else {
        const where = state ? `the running gateway says: ${state}` : refusal ? "written to the config file" : "no gateway runs here";
        cli.stdout.line(`${id} is ${enabled ? "on" : "off"}; ${where}`);
        if (refusal) cli.stderr.line(`${cli.color.yellow("svc:")} the request to the running gateway failed: ${refusal}`);
        for (const warning of warnings) cli.stderr.line(`${cli.color.yellow("svc:")} ${warning}`);
        if (live?.restartRequired) cli.stdout.line("It takes effect with the next start: svc gateway restart");
      }
      return warnings.length === 0 ? 0 : 1;
    },
  });
}

/** Did a gate of that very plugin refuse? */
function isRefusalOf(id: string, error: unknown): boolean {
  const { details } = error as { details?: { code?: unknown; plugin?: unknown } };
  return details?.code === "BLOCKED" && details.plugin === id;
}

async function writeEntry(cli: CliContext, id: string, enabled: boolean): Promise<void> {
  if (!(await cli.candidates()).some((c) => c.id === id)) throw sharedErrors.pluginNotInstalled({ id });
  const file = await cli.configFile();
  await file.write({ kind: "edit", apply: (source) => withEnabled(source, id, enabled) }, { onWarning: (text) => cli.stderr.line(text) });
}

/** The tree with one plugin switched; everything else is the very same. Pure. */
export function withEnabled(source: unknown, id: string, enabled: boolean): unknown {
  const root = asTree(source);
  const plugins = asTree(root.plugins);
  const entries = asTree(plugins.entries);
  return { ...root, plugins: { ...plugins, entries: { ...entries, [id]: { ...asTree(entries[id]), enabled } } } };
}

function asTree(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}
