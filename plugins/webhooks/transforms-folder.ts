import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { HooksConfig } from "./action.ts";

/** Where transforms stand: below the folder of the config, or in a folder below that one. */
export function transformsFolder(
  hooks: Pick<HooksConfig, "transformsDir">,
  { configPath, home = homedir() }: { configPath: string; home?: string | undefined },
): { dir: string; root: string } {
  const configDir = dirname(configPath);
  const root = join(configDir, "hooks", "transforms");
  const named = hooks.transformsDir;
  if (named === undefined) return { dir: root, root };
  return { dir: resolve(configDir, named === "~" || named.startsWith("~/") ? join(home, named.slice(1)) : named), root };
}
