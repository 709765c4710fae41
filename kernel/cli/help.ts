import type { CliCommand, CliOption } from "../../sdk/types/cli.ts";
import type { CommandEntry } from "./match.ts";
import { optionsOf } from "./options.ts";

/** Help of one command, from its data alone. */
export function commandHelp(command: CliCommand, siblings: readonly CommandEntry[] = []): string {
  const name = command.path.join(" ");
  const options = Object.entries(optionsOf(command)).filter(([, o]) => !o.hidden);
  const sections = [
    `svc ${name}: ${command.summary}`,
    command.details ?? "",
    `Usage: svc ${[name, ...(command.positionals ?? []).map(positional), options.length > 0 ? "[flags]" : ""].filter(Boolean).join(" ")}`,
    table("Flags", [...options.map(([n, o]): [string, string] => [flagName(n, o), flagText(o)]), ["-h, --help", "This text"]]),
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

function flagName(name: string, option: CliOption): string {
  const short = option.short ? `-${option.short}, ` : "";
  if (option.kind === "flag") return `${short}--${name}`;
  const value = option.kind === "string" && option.choices ? option.choices.join("|") : (option.placeholder ?? option.kind);
  return `${short}--${name} <${value}>`;
}

function flagText(option: CliOption): string {
  if (option.kind !== "integer" && option.kind !== "number") return option.description;
  const { min, max } = option;
  return min === undefined || max === undefined ? option.description : `${option.description} (${min} to ${max})`;
}

function table(title: string, rows: ReadonlyArray<readonly [string, string]>): string {
  if (rows.length === 0) return "";
  const width = Math.max(...rows.map(([left]) => left.length));
  return `${title}:\n${rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join("\n")}`;
}
