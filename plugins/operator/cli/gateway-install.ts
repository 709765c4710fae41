import { type CliContext, type CliValues, commonErrors, defineCommand } from "svc/sdk";
import { pathNames } from "../service/drift.ts";
import { installService } from "../service/install.ts";
import { planInstall } from "../service/plan.ts";
import { findSupervision, type Supervision } from "../service/supervision.ts";
import { renderUnit } from "../service/systemd-unit.ts";

/** `svc gateway install`: a definition for the supervisor of this system, and a gateway that it runs. */
export default defineCommand({
  path: ["gateway", "install"],
  summary: "Let the system's supervisor run the gateway",
  details:
    "Writes a systemd unit of the user, a launch agent or a scheduled task, starts it, and waits until the gateway is ready. Another definition is replaced only with --force.",
  examples: [
    ["What would be written", "svc gateway install --dry-run"],
    ["After a change of gateway.port", "svc gateway install --force"],
    ["A unit of the system, for you to write as root", "svc gateway install --system --dry-run"],
  ],
  options: {
    force: { kind: "flag", description: "Replace a definition that differs; write an equal one again" },
    port: {
      kind: "integer",
      description: "Port of the gateway (default: environment, config, 18789)",
      min: 1,
      max: 65_535,
      placeholder: "n",
    },
    node: { kind: "string", description: "Node that runs it", placeholder: "path" },
    system: { kind: "flag", description: "With --dry-run: the unit of the system, which runs as this user" },
    "dry-run": { kind: "flag", description: "Print files and commands, and change nothing" },
    json: { kind: "flag", description: "One JSON document on stdout" },
  },
  run: async (cli, values) => {
    const at = await findSupervision(cli);
    if (values["dry-run"] === true) return dryRun(cli, values, at);
    if (values.system === true) {
      throw commonErrors.usage({
        message: "gateway install --system: svc writes nothing for the whole system; add --dry-run, and write it as root",
      });
    }
    const { status, ...result } = await installService(cli, at, {
      port: numberOf(values.port),
      node: textOf(values.node),
      force: values.force === true,
      onDiff: (lines) => cli.json || cli.stderr.write(`${lines.join("\n")}\n`),
    });
    const manager = (await at.manager.find())[0]?.manager ?? "none";
    if (cli.json) cli.stdout.json({ ok: true, status, manager, label: at.manager.label, ...result });
    else {
      const words = { installed: "Installed", replaced: "Replaced", "already-installed": "already installed" }[status];
      cli.stdout.line(`${words}: ${result.definitionPath} (port ${result.port})`);
      if (result.pid !== undefined) cli.stdout.line(cli.color.green(`Runtime: running (pid ${result.pid})`));
      for (const note of result.notes) cli.stderr.line(cli.color.yellow(note));
    }
    return 0;
  },
});

async function dryRun(cli: CliContext, values: CliValues, { host, manager }: Supervision): Promise<number> {
  const isSystem = values.system === true;
  if (isSystem && host.platform !== "linux")
    throw commonErrors.usage({ message: "gateway install --system: only Linux has units of the system" });
  const plan = await planInstall(cli, host, manager, { port: numberOf(values.port), node: textOf(values.node) });
  const [definition, ...others] = plan.files;
  const system = { path: `/etc/systemd/system/${manager.label}`, mode: 0o644, content: renderUnit(plan.spec, { account: host.user }) };
  const files = isSystem ? [system, ...others.slice(0, 1)] : [definition, ...others].filter((file) => file !== undefined);
  const commands = isSystem
    ? [
        ["systemctl", "daemon-reload"],
        ["systemctl", "enable", "--now", manager.label],
      ]
    : [...manager.steps.before, ...manager.steps.after].map(({ argv }) => argv);
  // Variables may be secrets; the file that holds them is for this user only, and a terminal's history is not.
  const shown = files.map(({ path, mode, content }) => ({
    path,
    mode: mode.toString(8).padStart(4, "0"),
    content: withoutValues(path, content),
  }));
  if (cli.json) cli.stdout.json({ ok: true, manager: isSystem ? "systemd-system" : kindOf(host.platform), files: shown, commands });
  else {
    for (const { path, mode, content } of shown) cli.stdout.write(`# ${path} (${mode})\n${content.replaceAll(/\r|\ufeff/g, "")}\n`);
    for (const argv of commands) cli.stdout.line(`$ ${argv.map(quoted).join(" ")}`);
  }
  for (const warning of plan.warnings) cli.stderr.line(cli.color.yellow(warning));
  return 0;
}

function kindOf(platform: Supervision["host"]["platform"]): string {
  return { linux: "systemd-user", darwin: "launchd", win32: "schtasks" }[platform];
}

/** Variables by name; where state and config are is no secret. */
function withoutValues(path: string, content: string): string {
  if (!path.endsWith("gateway.env")) return content;
  const shown = content.split("\n").map((line) => {
    const name = line.split("=")[0] ?? "";
    return name === "" || pathNames.has(name) ? line : `${name}=***`;
  });
  return shown.join("\n");
}

function quoted(argument: string): string {
  return /^[\w@%+=:,./\\-]+$/.test(argument) ? argument : `"${argument}"`;
}

function numberOf(value: CliValues[string]): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function textOf(value: CliValues[string]): string | undefined {
  return typeof value === "string" ? value : undefined;
}
