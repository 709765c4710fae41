import { parseArgs as splitArgs } from "node:util";
import { commonErrors, type SvcError } from "../../sdk/errors.ts";
import type { CliCommand, CliOption, CliValues } from "../../sdk/types/cli.ts";
import { distance } from "./match.ts";
import { optionsOf, optionValue } from "./options.ts";

export interface ParsedArgs {
  values: CliValues;
  positionals: string[];
}

type Tokens = NonNullable<ReturnType<typeof splitArgs<{ strict: false; tokens: true }>>["tokens"]>;
type OptionToken = Extract<Tokens[number], { kind: "option" }>;

/**
 * Reads the arguments of one command from the command's plain description; Node takes them apart, what they mean is decided here.
 * @throws {SvcError} `usage` with a message that names the flag
 */
export function parseArgs(command: CliCommand, args: readonly string[]): ParsedArgs {
  const options = optionsOf(command);
  const given = new Map<string, string | boolean>();
  const refuse = (message: string) => commonErrors.usage({ message: `${command.path.join(" ")}: ${message}` });
  const split = splitArgs({
    args: args.map(hidden),
    options: Object.fromEntries(Object.entries(options).map(([name, option]) => [name, toSplit(option)])),
    strict: false,
    tokens: true,
  });
  const positionals = split.positionals.map(shown);
  for (const token of split.tokens) {
    if (token.kind !== "option") continue;
    const read = readOption(token, options, refuse);
    const { name, value } = { ...read, value: typeof read.value === "string" ? shown(read.value) : read.value };
    const before = isRepeated(options[name]) ? given.get(name) : undefined;
    given.set(name, before === undefined ? value : `${before}\n${value}`);
  }
  const problem = countProblem(command, positionals);
  if (problem) throw refuse(problem);
  const values: CliValues = {};
  for (const [name, option] of Object.entries(options)) values[name] = optionValue(name, option, given.get(name));
  return { values, positionals };
}

/** A number below zero is a value; the splitter would take it for a flag. No argument of a command line holds the mark. */
const MARK = "\0";

function hidden(arg: string): string {
  return /^-(\d|\.\d)/.test(arg) ? MARK + arg : arg;
}

function shown(arg: string): string {
  return arg.startsWith(MARK) ? arg.slice(MARK.length) : arg;
}

function isRepeated(option: CliOption | undefined): boolean {
  return option?.kind === "string" && option.repeats === true;
}

function toSplit(option: CliOption): { type: "boolean" | "string"; short?: string } {
  return { type: option.kind === "flag" ? "boolean" : "string", ...(option.short ? { short: option.short } : {}) };
}

function readOption(token: OptionToken, options: Record<string, CliOption>, refuse: (message: string) => SvcError) {
  const { name, rawName, value } = token;
  const option = Object.hasOwn(options, name) ? options[name] : undefined;
  const denied = name.startsWith("no-") ? name.slice(3) : "";
  if (!option && Object.hasOwn(options, denied) && options[denied]?.kind === "flag" && value === undefined)
    return { name: denied, value: false };
  if (!option) {
    const near = Object.keys(options).find((known) => distance(rawName, `--${known}`) <= 2);
    throw refuse(`unknown flag ${rawName}${near ? `; did you mean --${near}?` : ""}`);
  }
  if (option.kind === "flag") {
    if (value !== undefined) throw refuse(`${rawName} takes no value, got "${value}"`);
    return { name, value: true };
  }
  // A flag in the place of a value means that the value was forgotten; one that begins with a dash is given as --name=value.
  if (value === undefined || (!token.inlineValue && /^-./.test(value))) throw refuse(`not enough arguments to option ${rawName}`);
  return { name, value };
}

function countProblem({ path, positionals = [] }: CliCommand, given: readonly string[]): string | undefined {
  const missing = positionals.filter((p) => p.required)[given.length];
  if (missing) return `expected <${missing.name}>; see svc ${path.join(" ")} --help`;
  if (given.length <= positionals.length || positionals.at(-1)?.rest) return undefined;
  return `extraneous positional argument ("${given[positionals.length]}")`;
}
