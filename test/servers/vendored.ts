import { join } from "node:path";
import { describe, test } from "vitest";
import { missingPackages } from "../../kernel/process/vendor-packages.ts";
import { skippedFor } from "./needs.ts";

const plugins = join(import.meta.dirname, "../../plugins");

/**
 * `describe` and `test` for tests that need a bundled plugin's own packages: skipped, each by its name, where they are not installed in its `vendor/` folder.
 * @throws {Error} where CI is set: `.ci/run` installs them all
 */
export async function needsPackages(plugin: string): Promise<{ describe: typeof describe; test: typeof test }> {
  const missing = await missingPackages({ id: plugin, root: join(plugins, plugin) }, undefined);
  if (missing.length === 0) return { describe, test };
  const need = `${missing.join(" and ")}: npm ci --prefix plugins/${plugin}/vendor --ignore-scripts`;
  if (process.env.CI) throw new Error(`packages of ${plugin} are missing, and .ci/run installs them (${need})`);
  return skippedFor(need);
}
