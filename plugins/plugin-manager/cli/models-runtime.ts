import { type CliContext, commonErrors, defineCommand, type PluginCandidate } from "svc/sdk";
import { outcomeText, runInstall } from "../packages/run-install.ts";

const SERVICE = "local-runtime@1";

/** `svc models runtime install` and `svc models runtime status`: the packages that run models on this machine. */
export default [
  defineCommand({
    path: ["models", "runtime", "install"],
    summary: "Install what runs models on this machine",
    details: [
      "For embeddings (memorySearch.provider: local) and chat (models.providers.local) alike. The packages come in exactly the versions of the lock file, into",
      "the state directory of this profile; no script of a package is run, nothing is compiled, and no model is downloaded. A running gateway finds them",
      "without a restart.",
    ].join("\n"),
    examples: [["Run models on this machine", "svc models runtime install"]],
    options: { json: { kind: "flag", description: "One JSON document on stdout" } },
    run: async (cli) => {
      const candidate = await runtimePlugin(cli);
      const outcome = await runInstall(cli, candidate);
      if (cli.json) cli.stdout.json({ ok: true, plugin: candidate.id, ...outcome });
      else cli.stdout.line(outcomeText(candidate.id, outcome));
      return 0;
    },
  }),
  defineCommand({
    path: ["models", "runtime", "status"],
    summary: "Show whether what runs models on this machine is installed",
    examples: [["Look before a model is configured", "svc models runtime status"]],
    options: { json: { kind: "flag", description: "One JSON document on stdout" } },
    run: async (cli) => {
      const { id, root } = await runtimePlugin(cli);
      const vendor = await cli.vendorPackages();
      const [locked, missing] = [await vendor.locked(root), await vendor.missing({ id, root })];
      const packages = [...(locked?.direct ?? [])].map(([name, version]) => ({ name, version, installed: !missing.includes(name) }));
      const ok = missing.length === 0;
      if (cli.json) cli.stdout.json({ ok, plugin: id, packages });
      else {
        for (const { name, version, installed } of packages)
          cli.stdout.line(`${name} ${version}: ${installed ? cli.color.green("installed") : cli.color.yellow("not installed")}`);
        if (!ok) cli.stdout.line("Install it: svc models runtime install");
      }
      return ok ? 0 : 1;
    },
  }),
];

async function runtimePlugin(cli: CliContext): Promise<PluginCandidate> {
  const candidates = (await cli.candidates()).filter(({ problem }) => problem?.code !== "duplicate-id");
  const found = candidates.find(({ manifest }) => manifest?.provides?.includes(SERVICE));
  if (found) return found;
  throw commonErrors.usage({ message: `models runtime: no plugin provides ${SERVICE}; svc plugins list shows the plugins` });
}
