import { readdir, readFile } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { messageOf, SvcError } from "../../sdk/errors.ts";
import type { CliCommand } from "../../sdk/types/cli.ts";
import type { Manifest } from "../../sdk/types/manifest.ts";
import { packageRoot, runsFromDist } from "../config/paths.ts";

/** One command as the manifests tell of it; its code is not loaded yet. */
export interface CommandEntry {
  words: string[];
  description: string;
  /** Absolute path of the module's source; undefined for the kernel's own. */
  module: string | undefined;
}

export type Match =
  | { kind: "command"; entry: CommandEntry; args: string[] }
  /** Words that only begin commands, such as `memory`. */
  | { kind: "group"; words: string[]; members: CommandEntry[] }
  | { kind: "unknown"; typed: string; suggestion: string | undefined };

const ownCommands: CommandEntry[] = ["gateway", "gateway run"].map((name) => ({
  words: name.split(" "),
  description: "Run the gateway in the foreground",
  module: undefined,
}));

/** Every command of the kernel and the bundled plugins. Manifests are read loosely: their checks are the loader's. */
export async function readCommands(pluginsRoot = join(packageRoot(), "plugins")): Promise<CommandEntry[]> {
  const folders = (await readdir(pluginsRoot, { withFileTypes: true })).filter((e) => e.isDirectory());
  const lists = await Promise.all(folders.map((folder) => commandsOf(join(pluginsRoot, folder.name))));
  return [...ownCommands, ...lists.flat()];
}

async function commandsOf(root: string): Promise<CommandEntry[]> {
  // A broken manifest is reported by `svc plugins list`; the other commands must go on working.
  const manifest = await looseManifest(join(root, "svc.plugin.json")).catch(() => undefined);
  return (manifest?.cli ?? []).map((c) => ({ words: c.name.split(" "), description: c.description, module: resolve(root, c.module) }));
}

async function looseManifest(path: string): Promise<Partial<Manifest> | undefined> {
  const text = await readFile(path, "utf8").catch(() => undefined);
  if (text === undefined) return undefined; // not a plugin
  try {
    return JSON.parse(text) as Partial<Manifest>;
  } catch {
    const { default: JSON5 } = await import("json5");
    return JSON5.parse<Partial<Manifest>>(text);
  }
}

/** The command with the longest run of words at the beginning of the line. */
export function matchCommand(commands: readonly CommandEntry[], argv: readonly string[]): Match {
  const end = argv.findIndex((arg) => arg.startsWith("-"));
  const typed = end === -1 ? [...argv] : argv.slice(0, end);
  const fitting = commands.filter((c) => startsWith(typed, c.words)).sort((a, b) => b.words.length - a.words.length);
  const entry = fitting[0];
  if (entry) return { kind: "command", entry, args: argv.slice(entry.words.length) };
  const group = typed.slice(0, 1);
  const members = commands.filter((c) => c.words.length > 1 && startsWith(c.words, group));
  if (typed.length === 1 && members.length > 0) return { kind: "group", words: group, members };
  return unknown(commands, typed);
}

/** What a word that no command takes was probably meant to be. */
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

/**
 * Imports a command's module and picks the command out of it. Bundled code needs no loader: it resolves `svc/sdk` like the program itself.
 * @throws {SvcError} `failed` when the module does not deliver what its manifest says
 */
export async function loadCommand(entry: CommandEntry & { module: string }): Promise<CliCommand> {
  const name = entry.words.join(" ");
  let exported: unknown;
  try {
    exported = ((await import(pathToFileURL(codeFile(entry.module)).href)) as { default?: unknown }).default;
  } catch (error) {
    throw new SvcError("failed", { message: `${name}: its module could not be loaded: ${messageOf(error)}` }, { cause: error });
  }
  const found = ([exported].flat() as Array<Partial<CliCommand> | undefined>).find((c) => c?.path?.join(" ") === name);
  if (!found || typeof found.run !== "function") {
    throw new SvcError("failed", { message: `${name}: ${entry.module} does not export a command of this name` });
  }
  return found as CliCommand;
}

/** Compiled code stands under `dist` with the same path (`codePath` of the loader would bring the config schema along). */
function codeFile(source: string): string {
  const root = packageRoot();
  const inside = relative(join(root, "plugins"), source);
  return runsFromDist() && !inside.startsWith("..") ? join(root, "dist/plugins", inside).replace(/\.ts$/, ".js") : source;
}
