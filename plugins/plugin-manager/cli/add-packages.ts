import { commonErrors, defineCommand } from "svc/sdk";
import { outcomeText, runInstall } from "../packages/run-install.ts";

/** `svc plugins add-packages <id>`: what a plugin has locked in its `vendor/` folder is installed in the state directory. */
export default defineCommand({
  path: ["plugins", "add-packages"],
  summary: "Install the packages that a plugin needs and svc does not bring along",
  details: [
    "They come in exactly the versions of the plugin's lock file, into the state directory of this profile; no script of a package is run. A running",
    "gateway finds them without a restart. For channels: svc channels add. For models on this machine: svc models runtime install.",
  ].join("\n"),
  examples: [["Run models on this machine", "svc plugins add-packages local-runtime"]],
  options: { json: { kind: "flag", description: "One JSON document on stdout" } },
  positionals: [{ name: "id", required: true }],
  run: async (cli, _values, [id = ""]) => {
    const candidates = await cli.candidates();
    const candidate = candidates.find((one) => one.id === id && one.problem?.code !== "duplicate-id");
    if (!candidate) throw commonErrors.usage({ message: `plugins add-packages: there is no plugin "${id}"; svc plugins list shows them` });
    const outcome = await runInstall(cli, candidate);
    if (cli.json) cli.stdout.json({ ok: true, plugin: id, ...outcome });
    else cli.stdout.line(outcomeText(id, outcome));
    return 0;
  },
});
