import { Cli, Command, Option } from "clipanion";
import { SvcError } from "../../sdk/errors.ts";
import type { CliCommand, CliOption, CliValues } from "../../sdk/types/cli.ts";
import { distance } from "./commands.ts";

/** Options that commands with `rpc: true` have besides their own; an own option of the same name wins. */
export const rpcOptions: Record<string, CliOption> = {
  url: { kind: "string", description: "Gateway to talk to; only secrets given here are sent there", placeholder: "ws://…" },
  port: { kind: "integer", description: "Port of the local gateway", min: 1, max: 65_535, placeholder: "n" },
  token: { kind: "string", description: "Gateway token", placeholder: "token" },
  password: { kind: "string", description: "Gateway password", placeholder: "password" },
  timeout: { kind: "integer", description: "Longest wait for the gateway (default 10000)", min: 1, max: 86_400_000, placeholder: "ms" },
};

/** All options of a command, its own first. */
export function optionsOf(command: CliCommand): Record<string, CliOption> {
  return { ...command.options, ...(command.rpc ? without(rpcOptions, command.options ?? {}) : {}) };
}

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
  for (const [i, name] of names.entries()) values[name] = toValue(name, options[name] as CliOption, parsed[`opt${i}`]);
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

function toValue(name: string, option: CliOption, value: unknown): string | number | boolean | undefined {
  if (option.kind === "flag") return value === true;
  if (typeof value !== "string") return undefined;
  if (option.kind === "string") {
    if (option.choices && !option.choices.includes(value)) {
      throw new SvcError("usage", { message: `--${name}: expected one of ${option.choices.join(", ")}, got "${value}"` });
    }
    return value;
  }
  const number = value.trim() === "" ? Number.NaN : Number(value);
  const fits = option.kind === "integer" ? Number.isSafeInteger(number) : Number.isFinite(number);
  if (fits && number >= (option.min ?? -Infinity) && number <= (option.max ?? Infinity)) return number;
  throw new SvcError("usage", { message: `--${name}: expected ${range(option)}, got "${value}"` });
}

function range(option: { kind: "integer" | "number"; min?: number; max?: number }): string {
  const what = option.kind === "integer" ? "an integer" : "a number";
  if (option.min !== undefined && option.max !== undefined) return `${what} from ${option.min} to ${option.max}`;
  if (option.min !== undefined) return `${what}, at least ${option.min}`;
  return option.max === undefined ? what : `${what}, at most ${option.max}`;
}

function without<T>(from: Record<string, T>, taken: object): Record<string, T> {
  return Object.fromEntries(Object.entries(from).filter(([name]) => !Object.hasOwn(taken, name)));
}
