// By its file: clipanion 3.2.1 names its entry without an extension, and some loaders then take modules that import a folder.
import { Cli, Command, Option } from "clipanion/lib/advanced/index.js";
import type { CliCommand, CliOption } from "../../sdk/types/cli.ts";
import { flagText, optionsOf } from "./options.ts";

export const PROGRAM = "svc";

/** A class that clipanion makes commands of. */
export type CommandClass = Parameters<Cli["register"]>[0];

/** Text, texts of a repeated option, a switch, or nothing: an argument as clipanion reads it. */
export type RawValue = string | string[] | boolean | undefined;

/** A command that was found by its words, with what follows them. */
export interface ListedCommand {
  args: string[];
}

/** A command that was read from a command line and has not run yet. */
export interface ReadCommand {
  option(name: string): RawValue;
  positionals(): string[];
  /** Runs the command through clipanion. */
  runWith(run: () => Promise<number>): Promise<number>;
}

/** Refusal of a command line by clipanion, with the commands it might have been. */
export interface SyntaxError extends Error {
  candidates: Array<{ usage: string; reason: string | null }>;
}

export function clipanionOf(...commands: CommandClass[]): Cli {
  return Cli.from(commands, { binaryName: PROGRAM, enableColors: false });
}

/** Recognises clipanion's refusals by what they hold: the class is not the same in every copy of the package. */
export function isSyntaxError(error: unknown): error is SyntaxError {
  return error instanceof Error && "clipanion" in error && "candidates" in error;
}

/** Stands for a command whose code is not loaded: takes its words, and all that follows as it is. */
export function toListedCommand(words: readonly string[]): CommandClass {
  return class extends Command implements ListedCommand {
    static override paths = [[...words]];
    args: string[] = Option.Proxy();
    override execute = unused;
  };
}

/** Turns the plain data of a command into a clipanion command. */
export function toClipanionCommand(command: CliCommand): CommandClass & (new () => Command & ReadCommand) {
  const options = Object.entries(optionsOf(command));
  // Optional arguments before a rest are the beginning of it: clipanion has no place for both.
  const positionals = (command.positionals ?? []).filter((p, i, all) => p.required || p.rest || !all.slice(i).some((later) => later.rest));
  const declared = Object.fromEntries([
    ...positionals.map((p, i) => [`argument ${i}`, toPositional(p)]),
    ...options.map(([name, option]) => [`--${name}`, toOption(name, option)]),
  ]) as Record<string, unknown>;

  return class extends Command implements ReadCommand {
    static override paths = [[...command.path]];
    static override usage = Command.Usage({ description: command.summary });
    #run = unused;

    constructor() {
      super();
      Object.assign(this, declared);
    }

    option(name: string): RawValue {
      return (this as unknown as Record<string, RawValue>)[`--${name}`];
    }

    positionals(): string[] {
      const read = this as unknown as Record<string, string | string[] | undefined>;
      return positionals.flatMap((_, i) => read[`argument ${i}`] ?? []);
    }

    async runWith(run: () => Promise<number>): Promise<number> {
      this.#run = run;
      return this.validateAndExecute();
    }

    override execute(): Promise<number> {
      return this.#run();
    }
  };
}

function toPositional({ name, required, rest }: NonNullable<CliCommand["positionals"]>[number]): unknown {
  return rest ? Option.Rest({ name, required: required ? 1 : 0 }) : Option.String({ name, required });
}

function toOption(name: string, option: CliOption): unknown {
  const names = option.short ? `-${option.short},--${name}` : `--${name}`;
  // clipanion lists only options that have a description.
  const shown = { description: flagText(option) || " ", hidden: option.hidden === true };
  if (option.kind === "flag") return Option.Boolean(names, shown);
  return option.kind === "string" && option.repeats ? Option.Array(names, shown) : Option.String(names, shown);
}

async function unused(): Promise<number> {
  throw new Error("the command was read, not meant to run");
}
