import { readdir } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { CommandEntry } from "../../sdk/cli/match.ts";
import { messageOf, SvcError } from "../../sdk/errors.ts";
import { packageRoot, runsFromDist } from "../../sdk/host/paths.ts";
import type { CliCommand } from "../../sdk/types/cli.ts";
import type { Manifest } from "../../sdk/types/manifest.ts";
import { readLooseJson } from "./loose-json.ts";

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
  const manifest = (await readLooseJson(join(root, "svc.plugin.json")).catch(() => undefined)) as Partial<Manifest> | undefined;
  return (manifest?.cli ?? []).map((c) => ({ words: c.name.split(" "), description: c.description, module: resolve(root, c.module) }));
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
