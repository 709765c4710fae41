import { flagText } from "../../../kernel/cli/options.ts";
import type { CliOption } from "../../../sdk/types/cli.ts";
import { type CommandDoc, rootFlags } from "./commands.ts";

/** Facts of the manual page besides the commands. */
export interface ManInput {
  description: string;
  commands: readonly CommandDoc[];
}

const files: ReadonlyArray<readonly [string, string]> = [
  ["~/.svc/svc.json", "Config, JSON5; svc config schema prints its schema"],
  ["~/.svc/.env", "Variables for the gateway and the commands"],
  ["~/.svc/logs/", "Logs of the gateway, one file a day"],
  ["~/.svc-<profile>/", "The same of another profile"],
];
const variables: ReadonlyArray<readonly [string, string]> = [
  ["SVC_PROFILE", "Profile, as --profile"],
  ["SVC_STATE_DIR, SVC_CONFIG_PATH", "State directory and config file; win over the profile"],
  ["SVC_GATEWAY_PORT", "Port"],
  ["SVC_GATEWAY_URL", "Gateway that commands connect to"],
  ["SVC_GATEWAY_TOKEN, SVC_GATEWAY_PASSWORD", "Secret of the gateway, when the config has none"],
  ["NO_COLOR", "Plain text"],
];
const exits: ReadonlyArray<readonly [string, string]> = [
  ["0", "Success"],
  ["1", "Failed, or a negative finding"],
  ["2", "Usage error, or a check could not run"],
  ["75", "Start again (a gateway under a supervisor)"],
  ["78", "Refused to start; do not retry"],
];

/** The manual page in the man macros that every `man` reads. Pure. */
export function manPage({ description, commands }: ManInput): string {
  return `${[
    '.\\" Written by `npm run docs` from the tables of commands.',
    '.TH SVC 1 "" "svc" "User Commands"',
    ".SH NAME",
    `svc \\- ${roff(description)}`,
    ".SH SYNOPSIS",
    ".B svc",
    "[\\fIflags\\fR] \\fIcommand\\fR [\\fIflags of the command\\fR]",
    ".SH FLAGS",
    ...rootFlags.flatMap(({ flags, value, description: about }) => tagged(flags.map(bold).join(", ") + valueText(value), about)),
    ".SH COMMANDS",
    "Commands that speak to a gateway find it by the flags \\-\\-url and \\-\\-port, the environment, the running gateway, and the config.",
    ...commands.flatMap(commandLines),
    ".SH FILES",
    ...files.flatMap(([path, about]) => tagged(`\\fI${roff(path)}\\fR`, about)),
    ".SH ENVIRONMENT",
    ...variables.flatMap(([name, about]) => tagged(bold(name), about)),
    ".SH EXIT STATUS",
    ...exits.flatMap(([code, about]) => tagged(bold(code), about)),
  ].join("\n")}\n`;
}

function commandLines({ name, summary, details, positionals, options, examples }: CommandDoc): string[] {
  const given = positionals.map((p) => {
    const word = `\\fI${roff(p.rest ? `${p.name}...` : p.name)}\\fR`;
    return p.required ? ` ${word}` : ` [${word}]`;
  });
  return [
    `.SS ${roff(`svc ${name}`)}${given.join("")}`,
    ...paragraphs(`${summary}.`),
    ...(details === "" ? [] : [".PP", ...paragraphs(details)]),
    ...Object.entries(options).flatMap(([long, option]) => tagged(flagName(long, option), flagText(option))),
    ...examples.flatMap(([what, line]) => [".PP", `${roff(what)}:`, ".PP", ".RS 4", ".nf", roff(line), ".fi", ".RE"]),
  ];
}

function flagName(long: string, option: CliOption): string {
  const names = [...(option.short ? [`-${option.short}`] : []), `--${long}`].map(bold).join(", ");
  if (option.kind === "flag") return names;
  return names + valueText(option.kind === "string" && option.choices ? option.choices.join("|") : (option.placeholder ?? option.kind));
}

const valueText = (value: string | undefined) => (value === undefined ? "" : ` \\fI${roff(value)}\\fR`);
const bold = (text: string) => `\\fB${roff(text)}\\fR`;
const tagged = (tag: string, about: string) => [".TP", tag, ...paragraphs(about)];
const paragraphs = (text: string) => text.split("\n").flatMap((line, i) => (i === 0 ? [roff(line)] : [".br", roff(line)]));

/** Text as roff prints it: no escape, no request at the beginning of a line, hyphens that can be copied. */
function roff(text: string): string {
  return text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replace(/^([.'])/, "\\&$1")
    .replaceAll("…", "...")
    .replaceAll("’", "'");
}
