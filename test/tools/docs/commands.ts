import { join } from "node:path";
import { gatewayCommand } from "../../../kernel/cli/gateway-command.ts";
import { optionsOf } from "../../../kernel/cli/options.ts";
import type { CliCommand, CliOption } from "../../../sdk/types/cli.ts";
import type { Manifest } from "../../../sdk/types/manifest.ts";
import { repositoryRoot } from "../source/tree.ts";

/** One command as its readers see it. */
export interface CommandDoc {
  name: string;
  summary: string;
  details: string;
  positionals: ReadonlyArray<{ name: string; required: boolean; rest?: boolean }>;
  /** Long name → option; hidden ones are left out. */
  options: Record<string, CliOption>;
  examples: ReadonlyArray<readonly [what: string, command: string]>;
}

/** Flags of the program, before and after every command. */
export const rootFlags: ReadonlyArray<{ flags: readonly string[]; value?: string; choices?: readonly string[]; description: string }> = [
  { flags: ["--profile"], value: "name", description: "Use the state of this profile (~/.svc-<name>)" },
  { flags: ["--dev"], description: "The same as --profile dev; its port is 19001" },
  {
    flags: ["--log-level"],
    value: "level",
    choices: ["trace", "debug", "info", "warn", "error", "silent"],
    description: "Least severity that is written",
  },
  { flags: ["--no-color"], description: "Plain text" },
  { flags: ["--help", "-h"], description: "Help of the program or of one command" },
  { flags: ["--version", "-V"], description: "Print the version" },
];

/** Reads every command of the gateway and of the bundled plugins, sorted by name. */
export async function collectCommands(
  manifests: readonly Manifest[],
  importModule: (path: string) => Promise<unknown>,
): Promise<CommandDoc[]> {
  const found: CommandDoc[] = [["gateway"], ["gateway", "run"]].map((path) =>
    toDoc(gatewayCommand({ path, logLevel: undefined, announce: undefined } as never)),
  );
  for (const { id, cli = [] } of manifests) {
    for (const { name, module } of cli) {
      const exported = ((await importModule(join(repositoryRoot, "plugins", id, module))) as { default: CliCommand | CliCommand[] })
        .default;
      const command = [exported].flat().find(({ path }) => path.join(" ") === name);
      if (!command) throw new Error(`${id}: ${module} does not export the command ${name}`);
      found.push(toDoc(command));
    }
  }
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function toDoc(command: CliCommand): CommandDoc {
  const { path, summary, details = "", positionals = [], examples = [] } = command;
  const options = Object.fromEntries(Object.entries(optionsOf(command)).filter(([, option]) => option.hidden !== true));
  return { name: path.join(" "), summary, details, positionals, options, examples };
}
