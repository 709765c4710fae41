import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Manifest, PluginCandidate } from "svc/sdk";
import { afterEach, beforeEach, expect, test } from "vitest";
import { withFileLock } from "../../../test/tools/file-lock.ts";
import { installedPlugins } from "../../../test/tools/installed-plugins.ts";
import { type InstallHost, type InstallProposal, installPlugin } from "./install.ts";

let base: string;
let stateDir: string;
let abort: AbortController;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "svc-install-"));
  stateDir = join(base, "state");
  abort = new AbortController();
});
afterEach(() => rm(base, { recursive: true, force: true }));

async function source(name: string): Promise<string> {
  const folder = join(base, name);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "svc.plugin.json"), "{}");
  return folder;
}

/** Installs what is named, as the plugin `demo`; discovery has no say here. */
function install(spec: string, version: string, accept: (proposal: InstallProposal) => Promise<(() => Promise<void>) | undefined>) {
  const manifest = { id: "demo", version, svc: { api: "^1.0.0" } } as Manifest;
  const host: InstallHost = {
    ...{ installed: installedPlugins(stateDir), cwd: base, env: {}, signal: abort.signal, fileLock: withFileLock },
    inspect: async (root) => ({ id: "demo", root, manifest }) as unknown as PluginCandidate,
    isBundled: async () => false,
    progress: () => undefined,
  };
  return installPlugin({ spec, replaceBundled: false }, host, accept);
}

test("another version of a package is an update, another package of the same id is none", async () => {
  const seen: boolean[] = [];
  const accept = async ({ isUpdate }: InstallProposal) => {
    seen.push(isUpdate);
    return undefined;
  };
  await install(await source("demo-1.0.0"), "1.0.0", accept);
  await install(await source("demo-1.1.0"), "1.1.0", accept);
  await install(await source("somebody-elses"), "2.0.0", accept);
  expect(seen).toEqual([false, true, false]);
});

test("what was agreed to is taken back when the files are not put in place after all, and not otherwise", async () => {
  let takenBack = 0;
  const takeBack = async () => {
    takenBack += 1;
  };
  await install(await source("a"), "1.0.0", async () => takeBack);
  expect(takenBack).toBe(0);
  const stopped = install(await source("a"), "1.1.0", async () => {
    abort.abort(new Error("stopped"));
    return takeBack;
  });
  await expect(stopped).rejects.toThrow("stopped");
  expect(takenBack).toBe(1);
  expect((await installedPlugins(stateDir).read()).plugins.demo).toMatchObject({ version: "1.0.0" });
  expect((await readdir(join(stateDir, "plugins"))).sort()).toEqual(["demo", "index.json"]);
});

test("who does not agree changes nothing", async () => {
  await expect(install(await source("a"), "1.0.0", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await readdir(join(stateDir, "plugins"))).toEqual([]);
});
