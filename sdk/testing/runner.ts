import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

/** The little of vitest that the suites need. */
export interface Runner {
  test(name: string, run: () => Promise<void>, timeoutMs?: number): void;
  beforeEach(run: () => Promise<void> | void): void;
  afterEach(run: () => Promise<void> | void): void;
}

const loaded = await load();

/**
 * The test runner that runs this process.
 * @throws {Error} outside of vitest
 */
export function runner(): Runner {
  if (!loaded) throw new Error("svc/sdk/testing: conformance suites run inside vitest; call them from a *.test.ts file");
  return loaded;
}

/** As `runner`, for what is only done where a runner is. */
export function runnerIfAny(): Runner | undefined {
  return loaded;
}

/** vitest of the project under test: this package may be linked in from elsewhere, where another copy (or none) stands beside it. */
async function load(): Promise<Runner | undefined> {
  if (!("__vitest_worker__" in globalThis)) return undefined;
  const require = createRequire(join(process.cwd(), "package.json"));
  let folder: string;
  try {
    folder = dirname(require.resolve("vitest/package.json"));
  } catch {
    return (await import("vitest")) as unknown as Runner;
  }
  // The package's CommonJS entry only throws, so the resolved name cannot be imported as it is.
  return (await import(/* @vite-ignore */ pathToFileURL(join(folder, "dist/index.js")).href)) as Runner;
}
