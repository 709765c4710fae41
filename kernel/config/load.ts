import JSON5 from "json5";
import type { LoadedConfig } from "./loaded.ts";
import { locator } from "./locate.ts";
import { type LoadOptions, loadTrees } from "./trees.ts";

/** JSON5 for `sdk/config`. Most files have no comments, and the reader for those is the slower one. */
export const configSyntax = { parse: parseJson5, locator };

/** Reads a config file, all it includes, its variables and its secrets. A missing file equals `{}`. Never throws for what is in the files. */
export function loadConfig(path: string, options: LoadOptions): Promise<LoadedConfig> {
  return loadTrees(path, configSyntax, options);
}

function parseJson5(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return JSON5.parse(text);
  }
}
