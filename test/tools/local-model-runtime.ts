import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const plugin = join(import.meta.dirname, "../../plugins/embed-local");

/** The package that runs models is installed apart from the product. */
export const hasModelRuntime = existsSync(join(plugin, "vendor/node_modules/node-llama-cpp/package.json"));

/** In place of tests that run a model: says by its name what is missing. Where everything must hold (`CI`) it fails. */
export function tellModelRuntimeIsMissing(): void {
  test("NOT RUN: the model runtime is missing; npm ci --prefix plugins/embed-local/vendor --no-audit --no-fund", () => {
    expect(process.env.CI, "the tests of a model need its runtime").toBeUndefined();
  });
}
