// The file itself: clipanion 3.2.1 names its main without an extension, and vitest then takes the ES build, which imports a folder.
import { Cli, Command, Option } from "clipanion/lib/advanced/index.js";
import { distance } from "../../sdk/cli/match.ts";
import { optionsOf, optionValue } from "../../sdk/cli/options.ts";
import { SvcError } from "../../sdk/errors.ts";
import type { CliCommand, CliOption, CliValues } from "../../sdk/types/cli.ts";

export interface ParsedArgs {
  values: CliValues;
  positionals: string[];
}

/**
 * Reads the arguments of one command with clipanion, from the command's plain description.
 * @throws {SvcError} `usage` with a message that names the flag
 */
export function parseArgs(command: CliCommand, args: readonly string[]): ParsedArgs {
  const options = optionsOf(command);
  const names = Object.keys(options);
  const positionals = command.positionals ?? [];

  class Parsed extends Command {
    constructor() {
      super();
      const own: Record<string, unknown> = {};
      for (const [i, p] of positionals.entries()) {
        own[`arg${i}`] = p.rest
          ? Option.Rest({ name: p.name, required: p.required ? 1 : 0 })
          : Option.String({ name: p.name, required: p.required });
      }
      for (const [i, name] of names.entries()) own[`opt${i}`] = toOption(name, options[name] as CliOption);
      Object.assign(this, own);
    }
    override async execute(): Promise<void> {
      // Parsing is all that clipanion does here; the command runs with the values, not as a clipanion command.
    }
  }

  const parsed = process(Parsed, args, command) as unknown as Record<string, unknown>;
  const values: CliValues = {};
  for (const [i, name] of names.entries()) values[name] = optionValue(name, options[name] as CliOption, parsed[`opt${i}`]);
  const given = positionals.flatMap((_, i) => [parsed[`arg${i}`]].flat()).filter((v): v is string => v !== undefined);
  return { values, positionals: given };
}

function process(definition: new () => Command, args: readonly string[], command: CliCommand): Command {
  const cli = new Cli({ binaryName: "svc" });
  cli.register(definition as Parameters<Cli["register"]>[0]);
  try {
    return cli.process([...args]);
  } catch (error) {
    throw new SvcError("usage", { message: `${command.path.join(" ")}: ${reason(error, Object.keys(optionsOf(command)))}` });
  }
}

/** clipanion's words without its usage lines, which would name no command here. */
function reason(error: unknown, names: readonly string[]): string {
  const text = (error instanceof Error ? error.message : String(error)).split("\n\n")[0] ?? "";
  const flag = /[Uu]nsupported option name \("(-[^"]*)"\)/.exec(text)?.[1];
  if (flag !== undefined) {
    const near = names.map((n) => `--${n}`).find((n) => distance(flag.replace(/=.*/s, ""), n) <= 2);
    return `unknown flag ${flag}${near ? `; did you mean ${near}?` : ""}`;
  }
  return text
    .replace(/\.$/, "")
    .replace(/^(Unknown|Unsupported) Syntax Error: /, "")
    .replace(/^\w/, (c) => c.toLowerCase());
}

function toOption(name: string, option: CliOption): unknown {
  const names = option.short ? `-${option.short},--${name}` : `--${name}`;
  return option.kind === "flag" ? Option.Boolean(names, false) : Option.String(names);
}
