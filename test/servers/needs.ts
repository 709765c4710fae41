import { accessSync, constants, readFileSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { describe, test } from "vitest";

const list = join(import.meta.dirname, "../../.ci/packages");

/** `.ci/packages`: command → Debian packages. */
export function packagesOf(text: string): ReadonlyMap<string, string[]> {
  const rows = text.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("#"));
  return new Map(rows.map((line) => line.trim().split(/\s+/)).map(([command = "", ...packages]) => [command, packages]));
}

/** Where a command is on the PATH; undefined when it is not there. */
export function commandPath(command: string, path = process.env.PATH ?? ""): string | undefined {
  return path
    .split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, command))
    .find(isExecutable);
}

interface Machine {
  path?: string | undefined;
  isCi?: boolean;
  packages?: ReadonlyMap<string, string[]>;
}

/**
 * Says which of the commands that tests need are missing on this machine.
 * @throws {Error} where CI is set and `.ci/run` installs the command: there it has to be there
 */
export function missingOf(commands: readonly string[], machine: Machine = {}): string[] {
  const { path = process.env.PATH ?? "", isCi = Boolean(process.env.CI), packages = packagesOf(readFileSync(list, "utf8")) } = machine;
  const missing = commands.filter(
    (command) => !(command === "chromium" && process.env.CHROMIUM_PATH) && commandPath(command, path) === undefined,
  );
  const expected = isCi ? missing.find((command) => packages.has(command)) : undefined;
  if (expected) throw new Error(`${expected} is missing, and .ci/packages says that CI installs it (${packages.get(expected)?.join(" ")})`);
  return missing;
}

/** `describe` and `test` for tests that need these commands: skipped, each by its name, on a machine that lacks one. */
export function needs(...commands: string[]): { describe: typeof describe; test: typeof test } {
  const missing = missingOf(commands);
  return missing.length === 0 ? { describe, test } : skippedFor(missing.join(" and "));
}

/** `describe` and `test` that skip by name, for tests that need something this machine lacks; says so once. */
export function skippedFor(need: string): { describe: typeof describe; test: typeof test } {
  process.stderr.write(`skipped here: tests that need ${need}\n`);
  return { describe: describe.skip as typeof describe, test: test.skip as typeof test };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
