import { type CommandClass, clipanionOf, isSyntaxError, type ListedCommand, PROGRAM, toListedCommand } from "./clipanion.ts";
import { nearestName } from "./nearest.ts";

/** One command as its manifest describes it; its code is not loaded yet. */
export interface CommandEntry {
  words: string[];
  description: string;
  /** Absolute path of the module's source; undefined for the kernel's own. */
  module: string | undefined;
  /** Plugin that is not part of the product: its trust gates are asked before the module is loaded. */
  plugin?: string;
}

/** Match of the beginning of a command line. */
export type Match =
  | { kind: "command"; entry: CommandEntry; args: string[] }
  /** Words that only begin commands, such as `memory`. */
  | { kind: "group"; words: string[]; members: CommandEntry[] }
  | { kind: "unknown"; typed: string; suggestion: string | undefined };

/** Finds the command with the longest run of words at the beginning of the line. */
export function matchCommand(commands: readonly CommandEntry[], argv: readonly string[]): Match {
  const end = argv.findIndex((arg) => arg.startsWith("-"));
  const typed = end === -1 ? [...argv] : argv.slice(0, end);
  if (typed.length === 0 && end === -1) return unknown(commands, typed);
  // clipanion takes a third of a millisecond per command to build its matcher, so it gets all of them only to find what was meant.
  const likely = commands.filter(({ words }) => words[0] === typed[0]);
  const classes = new Map<CommandClass, CommandEntry>(
    (likely.length > 0 ? likely : commands).map((entry) => [toListedCommand(entry.words), entry]),
  );
  try {
    const found = clipanionOf(...classes.keys()).process([...argv]) as unknown as ListedCommand;
    return { kind: "command", entry: classes.get(found.constructor as CommandClass) as CommandEntry, args: found.args };
  } catch (error) {
    if (!isSyntaxError(error)) throw error;
    const usages = new Set(error.candidates.map(({ usage }) => usage));
    const candidates = [...classes.values()].filter(({ words }) => usages.has(`${PROGRAM} ${words.join(" ")} ...`));
    if (typed.length > 0 && candidates.length > 0 && candidates.every(({ words }) => startsWith(words, typed)))
      return { kind: "group", words: typed, members: candidates };
    return unknown(candidates, typed);
  }
}

/** Commands whose names continue after these words. */
export function longerCommands(commands: readonly CommandEntry[], words: readonly string[]): CommandEntry[] {
  return commands.filter((c) => c.words.length > words.length && startsWith(c.words, words));
}

/** Suggests the command that an unknown word was probably meant to be. */
export function unknown(commands: readonly CommandEntry[], typed: readonly string[]): Match & { kind: "unknown" } {
  const names = commands.map((c) => c.words.join(" "));
  return { kind: "unknown", typed: typed.join(" "), suggestion: nearestName(typed, names) };
}

function startsWith(words: readonly string[], beginning: readonly string[]): boolean {
  return beginning.length <= words.length && beginning.every((w, i) => words[i] === w);
}
