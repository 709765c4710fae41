import { type CliContext, type CliValues, commonErrors, defineCommand } from "svc/sdk";
import { type Consent, permissionMeanings } from "../install/consent.ts";
import { type EntryChange, entryStep } from "../install/entry.ts";
import { type Installed, type InstallHost, installPlugin } from "../install/install.ts";
import { confirmPlugin } from "../install/uninstall.ts";
import { type Activation, activate } from "./activate.ts";
import { writeEntry } from "./config-entry.ts";

/** `svc plugins install <source>`: the files come into the state directory, the config entry is written, a running gateway takes it up. */
export default defineCommand({
  path: ["plugins", "install"],
  summary: "Install a plugin from a folder, a .tgz or npm:<name>[@<version>]",
  details: [
    "The files are copied into the state directory; no code of the plugin and no script of a package is run meanwhile. The exact version and a hash",
    "of every file are recorded, and a plugin whose files change afterwards is refused until --confirm. Dependencies come from the plugin's lockfile.",
    "Permissions that it asks for are granted only by --grant or --yes; they are consent and review, not a sandbox: a plugin runs with the",
    "powers of the gateway.",
  ].join("\n"),
  examples: [
    ["Install what you are writing", "svc plugins install ./my-plugin"],
    ["Install a published one and let it open connections", "svc plugins install npm:svc-plugin-irc@1.2.0 --grant net"],
    ["Accept files that were changed by hand", "svc plugins install --confirm my-plugin"],
  ],
  options: {
    grant: { kind: "string", description: "Permissions to grant, separated by commas", placeholder: "exec,net" },
    yes: { kind: "flag", short: "y", description: "Grant every permission it asks for" },
    "replace-bundled": { kind: "flag", description: "Let it replace a bundled plugin with the same id" },
    confirm: { kind: "string", description: "Accept the files of an installed plugin as they are now", placeholder: "id" },
    json: { kind: "flag", description: "One JSON document on stdout" },
  },
  positionals: [{ name: "source", required: false }],
  rpc: true,
  run: async (cli, values, [spec]) => {
    const { confirm } = values;
    if (typeof confirm === "string") {
      if (spec !== undefined) throw commonErrors.usage({ message: "plugins install: expected a source or --confirm <id>, not both" });
      return confirmInstalled(cli, confirm);
    }
    if (spec === undefined)
      throw commonErrors.usage({ message: "plugins install: expected a folder, a .tgz file or npm:<name>[@<version>]" });
    return install(cli, values, spec);
  },
});

async function install(cli: CliContext, values: CliValues, spec: string): Promise<number> {
  const { config } = await cli.config();
  const store = {
    config,
    write: (id: string, change: EntryChange | null) => writeEntry(cli, id, change),
    onWarning: (text: string) => cli.stderr.line(text),
  };
  const { accept, decided } = entryStep(store, { enabled: true, grant: values.grant as string | undefined, grantAll: values.yes === true });
  const installed = await installPlugin({ spec, replaceBundled: values["replace-bundled"] === true }, await hostOf(cli), accept);
  const { id } = installed.manifest;
  const activation = await activate(cli, id);
  report(cli, { installed, consents: decided.consents, activation });
  return activation.state === "failed" || activation.state === "blocked" ? 1 : 0;
}

async function hostOf(cli: CliContext): Promise<InstallHost> {
  return {
    installed: await cli.installedPlugins(),
    fileLock: cli.withFileLock,
    cwd: process.cwd(),
    env: cli.env,
    signal: cli.signal,
    inspect: cli.inspectPlugin,
    isBundled: async (id) => (await cli.manifests()).some((p) => p.id === id && p.origin === "bundled"),
    progress: (text) => cli.stderr.line(cli.color.dim(`${text} …`)),
  };
}

async function confirmInstalled(cli: CliContext, id: string): Promise<number> {
  const changed = await confirmPlugin({ installed: await cli.installedPlugins(), fileLock: cli.withFileLock }, id);
  const activation = await activate(cli, id);
  if (cli.json) cli.stdout.json({ ok: true, plugin: id, changed, ...activation });
  else
    cli.stdout.line(`${id}: ${changed ? "its files are accepted as they are now" : "its files have not changed"}; ${activation.message}`);
  return 0;
}

function report(
  cli: CliContext,
  { installed, consents, activation }: { installed: Installed; consents: readonly Consent[]; activation: Activation },
): void {
  const { manifest, record, folder, replaced } = installed;
  const { id, version } = manifest;
  if (cli.json) {
    const plugin = { id, version, name: manifest.name ?? id, folder, permissions: consents };
    cli.stdout.json({
      ok: true,
      plugin,
      source: record.source,
      integrity: record.integrity,
      ...(replaced ? { replaced } : {}),
      ...activation,
    });
    return;
  }
  cli.stdout.line(
    `${cli.color.green("installed")} ${cli.color.bold(id)} ${version}${replaced ? ` (was ${replaced})` : ""} from ${record.source.spec}`,
  );
  if (manifest.deprecated) cli.stdout.line(cli.color.yellow(`deprecated: ${manifest.deprecated}`));
  for (const { permission, granted } of consents) {
    cli.stdout.line(`  ${granted ? "granted    " : cli.color.yellow("not granted")} ${permission}: ${permissionMeanings[permission]}`);
  }
  const missing = consents.filter((c) => !c.granted).map((c) => c.permission);
  if (missing.length > 0)
    cli.stdout.line(
      `  grant with: svc plugins install ${record.source.kind === "npm" ? "npm:" : ""}${record.source.spec} --grant ${missing.join(",")}`,
    );
  cli.stdout.line(activation.message);
}
