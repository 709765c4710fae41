import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { installDependencies } from "./dependencies.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-dependencies-"));
  await writeFile(join(folder, "package.json"), '{"dependencies":{"a":"1.0.0"}}');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const loose = "its lockfile has no integrity hash for node_modules/a";
test.each([
  ["null", '{"packages":{"":{},"node_modules/a":null}}', loose],
  ["a text", '{"packages":{"":{},"node_modules/a":"sha512-x"}}', loose],
  ["a package without a hash", '{"packages":{"":{},"node_modules/a":{"version":"1.0.0"}}}', loose],
  ["nothing", '{"packages":{"":{}}}', "its lockfile names no packages"],
  ["no section for them", "{}", "its lockfile names no packages"],
])("a lockfile that has %s for a package is refused in plain words", async (_, lock, reason) => {
  await writeFile(join(folder, "package-lock.json"), lock);
  const installing = installDependencies(folder, {
    spec: "./demo",
    env: {},
    signal: new AbortController().signal,
    onStart: () => undefined,
  });
  await expect(installing).rejects.toMatchObject({ code: "plugin-lockfile-missing", fields: { reason } });
});
