import { commonErrors } from "../../sdk/errors.ts";
import type { CliCommand, CliContext, CliOption, CliValues } from "../../sdk/types/cli.ts";
import { clipanionOf, isSyntaxError, type ReadCommand, toClipanionCommand } from "./clipanion.ts";
import { distance } from "./nearest.ts";
import { optionsOf, optionValue } from "./options.ts";

/** A command with its arguments, ready to run. */
export interface ParsedCommand {
  values: CliValues;
  positionals: string[];
  run(context: CliContext): Promise<number>;
}

/**
 * Reads the arguments of one command: clipanion takes them apart by the command's plain description and runs it.
 * @throws {SvcError} `usage` with a message that names the flag
 */
export function parseCommand(command: CliCommand, args: readonly string[]): ParsedCommand {
  const options = optionsOf(command);
  const read = readArguments(command, separate(args, options), options);
  const positionals = read.positionals().map(shown);
  const values: CliValues = {};
  for (const [name, option] of Object.entries(options)) values[name] = optionValue(name, option, textOf(read.option(name)));
  return { values, positionals, run: (context) => read.runWith(() => command.run(context, values, positionals)) };
}

function readArguments(command: CliCommand, args: string[], options: Record<string, CliOption>): ReadCommand {
  try {
    return clipanionOf(toClipanionCommand(command)).process([...command.path, ...args]) as unknown as ReadCommand;
  } catch (error) {
    if (!isSyntaxError(error)) throw error;
    const reason = shown(error.candidates[0]?.reason ?? error.message);
    throw commonErrors.usage({ message: `${command.path.join(" ")}: ${explain(reason, command, options)}` });
  }
}

/** Marks an argument as a value, whatever it begins with. No argument of a command line can hold it. */
const MARK = "\0";

function shown(text: string): string {
  return text.replaceAll(MARK, "");
}

function textOf(value: ReturnType<ReadCommand["option"]>): string | boolean | undefined {
  if (Array.isArray(value)) return value.map(shown).join("\n");
  return typeof value === "string" ? shown(value) : value;
}

/**
 * Puts values on their own where clipanion would not see them: numbers below zero, values glued to a short name, and those behind `=` of a name with
 * digits, which clipanion takes for no name at all.
 */
function separate(args: readonly string[], options: Record<string, CliOption>): string[] {
  const valued = new Set(Object.entries(options).flatMap(([name, o]) => (o.kind === "flag" ? [] : [`--${name}`, `-${o.short}`])));
  const end = args.indexOf("--");
  const read = (end === -1 ? args : args.slice(0, end)).flatMap((arg) => {
    if (/^-(\d|\.\d)/.test(arg)) return MARK + arg;
    const [, name = "", value = ""] = /^(--[^=]+|-[^-](?==))=(.*)$/s.exec(arg) ?? /^(-[^-])(.+)$/s.exec(arg) ?? [];
    return valued.has(name) ? [name, MARK + value] : arg;
  });
  return end === -1 ? read : [...read, ...args.slice(end)];
}

/** Says in the program's words why clipanion refused the arguments. */
function explain(reason: string, { path, positionals = [] }: CliCommand, options: Record<string, CliOption>): string {
  const flag = /^(?:Unsupported|Invalid) option name \("(.*)"\)\.$/s.exec(reason)?.[1];
  if (flag !== undefined) return explainFlag(flag, options);
  if (reason.startsWith("Not enough positional arguments")) {
    const required = positionals.filter((p) => p.required).map(({ name }) => `<${name}>`);
    return `expected ${required.join(" ")}; see svc ${path.join(" ")} --help`;
  }
  return reason.replace(/\.$/, "").replace(/^[A-Z]/, (first) => first.toLowerCase());
}

function explainFlag(flag: string, options: Record<string, CliOption>): string {
  if (flag === "-") return 'extraneous positional argument ("-")';
  const [name = "", value] = flag.split(/=(.*)/s);
  const known = name.startsWith("--") && Object.hasOwn(options, name.slice(2)) ? options[name.slice(2)] : undefined;
  if (known?.kind === "flag" && value !== undefined) return `${name} takes no value, got "${value}"`;
  const near = Object.keys(options).find((other) => distance(name, `--${other}`) <= 2);
  return `unknown flag ${name}${near ? `; did you mean --${near}?` : ""}`;
}
