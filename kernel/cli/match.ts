/** One command as the manifests tell of it; its code is not loaded yet. */
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

/** The command with the longest run of words at the beginning of the line. */
export function matchCommand(commands: readonly CommandEntry[], argv: readonly string[]): Match {
  const end = argv.findIndex((arg) => arg.startsWith("-"));
  const typed = end === -1 ? [...argv] : argv.slice(0, end);
  const fitting = commands.filter((c) => startsWith(typed, c.words)).sort((a, b) => b.words.length - a.words.length);
  const entry = fitting[0];
  if (entry) return { kind: "command", entry, args: argv.slice(entry.words.length) };
  const group = typed.slice(0, 1);
  const members = longerCommands(commands, group);
  if (typed.length === 1 && members.length > 0) return { kind: "group", words: group, members };
  return unknown(commands, typed);
}

/** Commands whose names go on where these words end. */
export function longerCommands(commands: readonly CommandEntry[], words: readonly string[]): CommandEntry[] {
  return commands.filter((c) => c.words.length > words.length && startsWith(c.words, words));
}

/** Suggests the command that an unknown word was probably meant to be. */
export function unknown(commands: readonly CommandEntry[], typed: readonly string[]): Match & { kind: "unknown" } {
  const names = commands.map((c) => c.words.join(" "));
  return { kind: "unknown", typed: typed.join(" "), suggestion: nearestName(typed, names) };
}

function nearestName(typed: readonly string[], names: readonly string[]): string | undefined {
  const ranked = names
    .map((name) => {
      const length = name.split(" ").length;
      return { name, length, edits: distance(typed.slice(0, length).join(" "), name) };
    })
    .filter(({ edits }) => edits > 0) // a name that stands there as it is did not help
    .sort((a, b) => a.edits - b.edits || b.length - a.length);
  const best = ranked[0];
  return best && best.edits <= Math.max(1, Math.floor(best.name.length / 4)) ? best.name : undefined;
}

/** Edits between two words; a swap of neighbours counts as one, because that is how people mistype. */
export function distance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = swapped ? (before[j - 2] as number) + 1 : Number.POSITIVE_INFINITY;
      next.push(Math.min((row[j] as number) + 1, (next[j - 1] as number) + 1, change, swap));
    }
    before = row;
    row = next;
  }
  return row[b.length] as number;
}

function startsWith(words: readonly string[], beginning: readonly string[]): boolean {
  return beginning.length <= words.length && beginning.every((w, i) => words[i] === w);
}
