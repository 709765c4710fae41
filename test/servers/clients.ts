import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "vitest";
import { skippedFor } from "./needs.ts";

/**
 * `describe` and `test` for tests that need client libraries of a folder of their own: skipped, each by its name, where one is not installed.
 * @throws {Error} where CI is set: `.ci/run` installs them
 */
export function needsClients(folder: string): { describe: typeof describe; test: typeof test } {
  const { dependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { dependencies: Record<string, string> };
  const missing = Object.keys(dependencies).filter((name) => !existsSync(join(folder, "node_modules", name, "package.json")));
  if (missing.length === 0) return { describe, test };
  const need = `${missing.join(" and ")}: npm ci --prefix test/clients --ignore-scripts`;
  if (process.env.CI) throw new Error(`client libraries are missing, and .ci/run installs them (${need})`);
  return skippedFor(need);
}
