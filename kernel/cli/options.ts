import { commonErrors } from "../../sdk/errors.ts";
import type { CliCommand, CliOption } from "../../sdk/types/cli.ts";

/** Options that commands with `rpc: true` have besides their own; an own option of the same name wins. */
export const rpcOptions: Record<string, CliOption> = {
  url: { kind: "string", description: "Gateway to talk to; only secrets given here are sent there", placeholder: "ws://…" },
  port: { kind: "integer", description: "Port of the local gateway", min: 1, max: 65_535, placeholder: "n" },
  token: { kind: "string", description: "Gateway token", placeholder: "token" },
  password: { kind: "string", description: "Gateway password", placeholder: "password" },
  timeout: {
    kind: "integer",
    description: "Time limit for an answer of the gateway (default 10000)",
    min: 1,
    max: 86_400_000,
    placeholder: "ms",
  },
};

/** All options of a command, its own first. */
export function optionsOf(command: CliCommand): Record<string, CliOption> {
  return { ...command.options, ...(command.rpc ? without(rpcOptions, command.options ?? {}) : {}) };
}

/**
 * The value of an option as typed.
 * @throws {SvcError} `usage` with what was expected
 */
export function optionValue(name: string, option: CliOption, value: unknown): string | number | boolean | undefined {
  if (option.kind === "flag") return value === true;
  if (typeof value !== "string") return undefined;
  if (option.kind === "string") {
    if (option.choices && !option.choices.includes(value)) {
      throw commonErrors.usage({ message: `--${name}: expected one of ${option.choices.join(", ")}, got "${value}"` });
    }
    return value;
  }
  const number = value.trim() === "" ? Number.NaN : Number(value);
  const fits = option.kind === "integer" ? Number.isSafeInteger(number) : Number.isFinite(number);
  if (fits && number >= (option.min ?? -Infinity) && number <= (option.max ?? Infinity)) return number;
  throw commonErrors.usage({ message: `--${name}: expected ${range(option)}, got "${value}"` });
}

/** Description of an option with the range of its value. */
export function flagText(option: CliOption): string {
  if (option.kind !== "integer" && option.kind !== "number") return option.description;
  const { min, max } = option;
  return min === undefined || max === undefined ? option.description : `${option.description} (${min} to ${max})`;
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
