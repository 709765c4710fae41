import { type CliContext, commonErrors, defineCommand, isRecord, type PluginCandidate, printableLine } from "svc/sdk";
import { askChannel } from "../packages/ask-channel.ts";
import { nextSteps } from "../packages/next-steps.ts";
import { outcomeText, runInstall } from "../packages/run-install.ts";

/** `svc channels add <id>`: the packages of the channel's plugin, and what its account still lacks. */
export default defineCommand({
  path: ["channels", "add"],
  summary: "Install what a channel needs, and show what its account needs",
  details: [
    "The packages come in exactly the versions of the plugin's lock file, into the state directory of this profile; no script of a package is run. A running",
    "gateway finds them without a restart. Nothing is written into the config.",
  ].join("\n"),
  examples: [["Talk on IRC", "svc channels add irc"]],
  options: { json: { kind: "flag", description: "One JSON document on stdout" } },
  positionals: [{ name: "channel", required: true }],
  run: async (cli, _values, [channel = ""]) => {
    const candidate = await pluginOf(cli, channel);
    const outcome = await runInstall(cli, candidate);
    const { config } = await cli.config();
    const channels = isRecord(config) && isRecord(config.channels) ? config.channels : {};
    const lacking = await askChannel(cli, candidate, { channel, config });
    const steps = nextSteps(channel, candidate, { section: channels[channel], env: cli.env, lacking });
    if (cli.json) {
      cli.stdout.json({ ok: true, channel, plugin: candidate.id, ...outcome, ...steps });
      return 0;
    }
    cli.stdout.line(outcomeText(candidate.id, outcome));
    for (const line of steps.lines) cli.stdout.line(printableLine(line));
    return 0;
  },
});

async function pluginOf(cli: CliContext, channel: string): Promise<PluginCandidate> {
  const candidates = (await cli.candidates()).filter(({ problem }) => problem?.code !== "duplicate-id");
  const found = candidates.find(({ manifest }) => manifest?.contributes?.channels?.includes(channel));
  if (found) return found;
  const known = candidates.flatMap(({ manifest }) => manifest?.contributes?.channels ?? []).sort();
  throw commonErrors.usage({ message: `channels add: no plugin has a channel "${channel}"; expected one of ${known.join(", ")}` });
}
