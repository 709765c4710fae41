import { lstat, mkdir, realpath, symlink } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { writeFileAtomic } from "svc/sdk";
import { readRegularFile } from "svc/sdk/internal";
import { type ModelNames, withModels } from "./index-yml.ts";

/** Folders of one agent's engine. */
export interface EngineHome {
  config: string;
  cache: string;
  engineConfig: string;
  engineCache: string;
  /** Its config file. */
  indexYml: string;
  /** Its index. */
  database: string;
}

/** Paths of an engine below the home of an agent. Pure. */
export function engineHome(home: string): EngineHome {
  const [config, cache] = [join(home, "xdg-config"), join(home, "xdg-cache")];
  const [engineConfig, engineCache] = [join(config, "qmd"), join(cache, "qmd")];
  return {
    config,
    cache,
    engineConfig,
    engineCache,
    indexYml: join(engineConfig, "index.yml"),
    database: join(engineCache, "index.sqlite"),
  };
}

/** Makes the folders of an engine and the workspace that it runs in, and shares the user's models with it: they are gigabytes. */
export async function prepareHome(
  home: EngineHome,
  { workspace, userHome = homedir() }: { workspace: string; userHome?: string | undefined },
): Promise<void> {
  for (const folder of [workspace, home.config, home.cache, home.engineConfig, home.engineCache])
    await mkdir(folder, { recursive: true, mode: 0o700 });
  const models = await realpath(join(userHome, ".cache", "qmd", "models")).catch(() => undefined);
  const link = join(home.engineCache, "models");
  if (models === undefined || models === link || (await isThere(link))) return;
  await symlink(models, link, "dir").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error; // somebody else was faster
  });
}

const MAX_CONFIG_BYTES = 4 * 1024 * 1024;

/**
 * Writes the wanted models into the engine's own config, which wins over its environment once it names any.
 * @returns whether the model that makes vectors is another one now
 */
export async function applyModels(home: EngineHome, models: ModelNames): Promise<boolean> {
  const bytes = await readRegularFile(home.indexYml, { maxBytes: MAX_CONFIG_BYTES }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  const changed = bytes && withModels(bytes.toString("utf8"), models);
  if (changed === undefined) return false;
  await writeFileAtomic(home.indexYml, changed.text);
  return changed.uses.includes("embed");
}

async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
