import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
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

  test("once per process where that is asked for, as with compiled code", async () => {
    const first = await importModule(bundled, stateDir, { reuse: true });
    expect(await importModule(bundled, stateDir, { reuse: true })).toBe(first);
    expect(await importModule(bundled, stateDir)).not.toBe(first);
  });

  test("at each import when the plugin is not a bundled one", async () => {
    const first = await importModule(example, stateDir, { reuse: true });
    expect(await importModule(example, stateDir, { reuse: true })).not.toBe(first);
  });

  test("and whoever compares files asks for those only that may be evaluated again", () => {
    expect([isEvaluatedOnce(bundled), isEvaluatedOnce(bundled, { reuse: true }), isEvaluatedOnce(example, { reuse: true })]).toEqual([
      false,
      true,
      false,
    ]);
  });
});
