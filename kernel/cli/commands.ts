import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { commonErrors, isSvcError, messageOf } from "../../sdk/errors.ts";
import type { CliCommand } from "../../sdk/types/cli.ts";
import type { Env } from "../../sdk/types/common.ts";
import { importCompiled } from "../loader/import-compiled.ts";
import { type ProfilePaths, packageRoot, runsFromDist } from "../process/paths.ts";
import { type CommandPlaces, readCommands as readAll } from "./command-table.ts";
import { readLooseJson } from "./loose-json.ts";
import type { CommandEntry } from "./match.ts";

/** Every command of the kernel, the bundled plugins and those of others. */
export function readCommands(paths: Pick<CommandPlaces, "stateDir" | "configPath">, pluginsRoot?: string): Promise<CommandEntry[]> {
  return readAll({ ...paths, pluginsRoot: pluginsRoot ?? join(packageRoot(), "plugins"), readJson: readLooseJson });
}

/**
 * Imports a command's module and picks the command out of it. Bundled code needs no loader: it resolves `svc/sdk` like the program
 * itself; that of others passes the gates of discovery first.
 * @throws {SvcError} `failed` when the module does not deliver what its manifest says, `plugin-not-loadable` when its plugin may not run
 */
export async function loadCommand(entry: CommandEntry & { module: string }, where: { paths: ProfilePaths; env: Env }): Promise<CliCommand> {
  const name = entry.words.join(" ");
  let exported: unknown;
  try {
    if (entry.plugin !== undefined) exported = await (await import("./found-plugins.ts")).importFound(entry.plugin, entry.module, where);
    else exported = await importBundled(entry.module);
  } catch (error) {
    if (isSvcError(error, "plugin-not-loadable")) throw error;
    throw commonErrors.failed({ message: `${name}: its module could not be loaded: ${messageOf(error)}` }, { cause: error });
  }
  const found = ([exported].flat() as Array<Partial<CliCommand> | undefined>).find((c) => c?.path?.join(" ") === name);
  if (!found || typeof found.run !== "function") {
    throw commonErrors.failed({ message: `${name}: ${entry.module} does not export a command of this name` });
  }
  return found as CliCommand;
}

/** Imports a module of a bundled plugin. Compiled code is under `dist` with the same path; a source is imported by whatever loads this program's sources. */
async function importBundled(source: string): Promise<unknown> {
  const root = packageRoot();
  const inside = relative(join(root, "plugins"), source);
  if (!runsFromDist() || inside.startsWith("..")) return ((await import(pathToFileURL(source).href)) as { default?: unknown }).default;
  return importCompiled(join(root, "dist/plugins", inside).replace(/\.ts$/, ".js"));
}
