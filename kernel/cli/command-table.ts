import { readdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { expandPath, resolveAgents } from "../../sdk/agents.ts";
import type { SvcConfig } from "../../sdk/config/root.ts";
import { isRecord } from "../../sdk/is-record.ts";
import type { Manifest } from "../../sdk/types/manifest.ts";
import type { CommandEntry } from "./match.ts";

export interface CommandPlaces {
  /** Folder of the bundled plugins. */
  pluginsRoot: string;
  stateDir: string;
  configPath: string;
  /** Reads JSON with comments. */
  readJson(path: string): Promise<unknown>;
}

type ManifestCommands = Pick<Manifest, "cli">;

const ownCommands: CommandEntry[] = ["gateway", "gateway run"].map((name) => ({
  words: name.split(" "),
  description: "Run the gateway in the foreground",
  module: undefined,
}));

/**
 * Every command there is, as manifests tell of it: the gateway's own, those of the bundled plugins, then those of others that the config does not switch
 * off. A name that is taken stays with its first owner. Everything is read loosely and nothing is run: a broken file hides only its own commands, and
 * whether a plugin of somebody else may run is decided when its command is called.
 */
export async function readCommands(places: CommandPlaces): Promise<CommandEntry[]> {
  const bundled = await commandsBelow(places.pluginsRoot, places);
  const others = await othersCommands(places);
  const taken = new Set([...ownCommands, ...bundled].map(nameOf));
  const free = others.filter((entry) => {
    if (taken.has(nameOf(entry))) return false;
    taken.add(nameOf(entry));
    return true;
  });
  return [...ownCommands, ...bundled, ...free];
}

async function commandsBelow(root: string, places: CommandPlaces): Promise<CommandEntry[]> {
  const folders = (await readdir(root, { withFileTypes: true })).filter((e) => e.isDirectory());
  const lists = await Promise.all(folders.map(({ name }) => manifestCommands(join(root, name), places)));
  return lists.flat().map(({ plugin: _, ...entry }) => entry);
}

/** Lists the commands of installed plugins (from their record), of those the config names, and of those it enables by id. */
async function othersCommands(places: CommandPlaces): Promise<CommandEntry[]> {
  const [index, config] = await Promise.all([
    readLoosely(places, join(places.stateDir, "plugins", "index.json")),
    readLoosely(places, places.configPath),
  ]);
  const plugins = asTree(config.plugins) as Partial<SvcConfig["plugins"]>;
  if (plugins.enabled === false) return [];
  const installed = Object.entries(asTree(index.plugins)).flatMap(([id, record]) =>
    entriesOf(asTree(record) as ManifestCommands, { plugin: id, root: join(places.stateDir, "plugins", id) }),
  );
  const named = asList(asTree(plugins.load).paths).map((path) => expandPath(path, dirname(places.configPath)));
  const switchedOn = Object.entries(asTree(plugins.entries)).flatMap(([id, entry]) =>
    asTree(entry).enabled === true && isFolderName(id) ? id : [],
  );
  const roots = [join(places.stateDir, "plugins"), join(workspaceOf(config, places.stateDir), ".svc", "plugins")];
  const folders = [...named, ...switchedOn.flatMap((id) => roots.map((root) => join(root, id)))];
  const lists = await Promise.all(folders.map((folder) => manifestCommands(folder, places)));
  return [...installed, ...lists.flat()].filter(({ plugin }) => plugin !== undefined && mayRun(plugin, plugins));
}

/** Reads only what the config says literally; the loader checks the rest. */
function mayRun(id: string, { entries, deny, allow }: Partial<SvcConfig["plugins"]>): boolean {
  return asTree(asTree(entries)[id]).enabled !== false && !asList(deny).includes(id) && (allow === undefined || asList(allow).includes(id));
}

async function manifestCommands(root: string, places: CommandPlaces): Promise<CommandEntry[]> {
  const manifest = await readLoosely(places, join(root, "svc.plugin.json"));
  return typeof manifest.id === "string" ? entriesOf(manifest as ManifestCommands, { plugin: manifest.id, root }) : [];
}

function entriesOf(manifest: ManifestCommands, { plugin, root }: { plugin: string; root: string }): CommandEntry[] {
  const listed = Array.isArray(manifest.cli) ? manifest.cli : [];
  return listed
    .filter((c) => typeof c?.name === "string" && typeof c.module === "string")
    .map(({ name, description, module }) => ({
      words: name.split(" "),
      description: String(description ?? ""),
      module: resolve(root, module),
      plugin,
    }));
}

function workspaceOf(config: Record<string, unknown>, stateDir: string): string {
  const { list, defaults } = asTree(config.agents);
  try {
    const agents = resolveAgents({ agents: { list: list ?? [], defaults: defaults ?? {} } } as unknown as SvcConfig, stateDir);
    return agents.find((a) => a.isDefault)?.workspace ?? join(stateDir, "workspace");
  } catch {
    return join(stateDir, "workspace"); // what is wrong with the config is told by those who need it whole
  }
}

async function readLoosely(places: CommandPlaces, path: string): Promise<Record<string, unknown>> {
  return asTree(await places.readJson(path).catch(() => undefined));
}

function nameOf({ words }: CommandEntry): string {
  return words.join(" ");
}

function isFolderName(id: string): boolean {
  return /^[a-z][a-z0-9-]*$/.test(id);
}

function asTree(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}

function asList(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((v): v is string => typeof v === "string") : [];
}
