import type { CliCommand, CliOption } from "../../sdk/types/cli.ts";
import { clipanionOf, toClipanionCommand } from "./clipanion.ts";
import type { CommandEntry } from "./match.ts";
import { optionsOf } from "./options.ts";

/**
 * Help of one command. The options are those that clipanion defines; its own page is not used because it calls every value `#0`, breaks lines at 80 columns
 * and loses words that are longer.
 */
export function commandHelp(command: CliCommand, siblings: readonly CommandEntry[] = []): string {
  const name = command.path.join(" ");
  const [definition] = clipanionOf(toClipanionCommand(command)).definitions();
  const flags = (definition?.options ?? []).map((o): [string, string] => [flagName(o.definition, command), (o.description ?? "").trim()]);
  const sections = [
    `svc ${name}: ${command.summary}`,
    command.details ?? "",
    `Usage: svc ${[name, ...(command.positionals ?? []).map(positional), flags.length > 0 ? "[flags]" : ""].filter(Boolean).join(" ")}`,
    table("Flags", [...flags, ["-h, --help", "This text"]]),
    table(
      "Commands",
      siblings.map((s) => [s.words.join(" "), s.description]),
    ),
    (command.examples ?? []).length > 0
      ? `Examples:\n${(command.examples ?? []).map(([what, line]) => `  ${what}:\n    ${line}`).join("\n")}`
      : "",
  ];
  return `${sections.filter(Boolean).join("\n\n")}\n`;
}

/** Commands that begin with the same word. */
export function groupHelp(words: readonly string[], members: readonly CommandEntry[]): string {
  const rows = members.map((m): [string, string] => [m.words.join(" "), m.description]);
  return `Usage: svc ${words.join(" ")} <command> [flags]\n\n${table("Commands", rows)}\n`;
}

function positional(p: { name: string; required: boolean; rest?: boolean }): string {
  const name = p.rest ? `${p.name}...` : p.name;
  return p.required ? `<${name}>` : `[${name}]`;
}

/** Turns clipanion's `-n,--max-results #0` into `-n, --max-results <n>`. */
function flagName(definition: string, command: CliCommand): string {
  const [names = "", value] = definition.split(" ");
  const long = names.split(",").at(-1)?.slice("--".length) ?? "";
  return names.replace(",", ", ") + (value === undefined ? "" : ` <${valueName(optionsOf(command)[long])}>`);
}

function valueName(option: CliOption | undefined): string {
  if (option === undefined || option.kind === "flag") return "value";
  return option.kind === "string" && option.choices ? option.choices.join("|") : (option.placeholder ?? option.kind);
}

function table(title: string, rows: ReadonlyArray<readonly [string, string]>): string {
  if (rows.length === 0) return "";
  const width = Math.max(...rows.map(([left]) => left.length));
  return `${title}:\n${rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join("\n")}`;
}
