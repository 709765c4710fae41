import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { importBundled } from "../../sdk/testing/import-bundled.ts";
import { importModule, isEvaluatedOnce } from "./import.ts";

const bundled = join(import.meta.dirname, "../../plugins/operator/index.ts");
const example = join(import.meta.dirname, "../../examples/plugin-hello/src/index.ts");
let stateDir: string;
beforeAll(async () => {
  stateDir = await mkdtemp(join(tmpdir(), "svc-import-"));
});
afterAll(() => rm(stateDir, { recursive: true, force: true }));

describe("a plugin's sources are evaluated", () => {
  test("at each import, so that a reload runs what stands there now", async () => {
    expect(await importModule(bundled, stateDir)).not.toBe(await importModule(bundled, stateDir));
  });

  test("once per process where an importer for bundled ones is given, as with compiled code", async () => {
    const first = await importModule(bundled, stateDir, { importBundled });
    expect(await importModule(bundled, stateDir, { importBundled })).toBe(first);
    expect(await importModule(bundled, stateDir)).not.toBe(first);
  });

  test("there with the modules that tests of the plugin import", async () => {
    expect(await importModule(bundled, stateDir, { importBundled })).toBe(
      ((await import(/* @vite-ignore */ bundled)) as { default: unknown }).default,
    );
  });

  test("at each import when the plugin is not a bundled one", async () => {
    const first = await importModule(example, stateDir, { importBundled });
    expect(await importModule(example, stateDir, { importBundled })).not.toBe(first);
  });

  test("and whoever compares files asks for those only that may be evaluated again", () => {
    expect([isEvaluatedOnce(bundled), isEvaluatedOnce(bundled, { importBundled }), isEvaluatedOnce(example, { importBundled })]).toEqual([
      false,
      true,
      false,
    ]);
  });
});
