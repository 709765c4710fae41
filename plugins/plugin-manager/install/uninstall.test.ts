import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { withFileLock } from "../../../test/tools/file-lock.ts";
import { installedPlugins } from "../../../test/tools/installed-plugins.ts";
import { confirmPlugin, uninstallPlugin } from "./uninstall.ts";

let stateDir: string;
beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), "svc-uninstall-"));
  await mkdir(join(stateDir, "plugins/constructor"), { recursive: true });
  await writeFile(join(stateDir, "plugins/index.json"), '{"version":1,"plugins":{}}');
});
afterEach(() => rm(stateDir, { recursive: true, force: true }));

test.each([
  ["removed", uninstallPlugin],
  ["confirmed", confirmPlugin],
])("a folder that no command installed is not %s, whatever its name", async (_, work) => {
  await expect(work({ installed: installedPlugins(stateDir), fileLock: withFileLock }, "constructor")).rejects.toMatchObject({
    code: "plugin-not-recorded",
  });
  expect((await readdir(join(stateDir, "plugins"))).sort()).toEqual(["constructor", "index.json"]);
});
