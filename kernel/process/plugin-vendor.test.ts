import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createPluginVendor } from "./plugin-vendor.ts";
import { missingPackages, readLockedPackages, vendorStateFolder } from "./vendor-packages.ts";

let base: string;
let root: string;
let stateDir: string;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "svc-vendor-"));
  root = join(base, "a plugin with ümlauts");
  stateDir = join(base, "state");
  await lock({ whole: "1.0.0", "@scope/own": "2.0.0" });
});
afterEach(() => rm(base, { recursive: true, force: true }));

async function write(path: string, content: unknown): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, typeof content === "string" ? content : JSON.stringify(content));
}

async function lock(versions: Record<string, string>): Promise<void> {
  await write(join(root, "vendor/package.json"), { dependencies: versions });
  const packages = Object.fromEntries(Object.entries(versions).map(([name, version]) => [`node_modules/${name}`, { version }]));
  await write(join(root, "vendor/package-lock.json"), { packages: { "": {}, ...packages } });
}

async function install(place: string, name: string, version: string, manifest: object = {}, file = "index.js"): Promise<string> {
  const folder = join(place, "node_modules", name);
  await write(join(folder, "package.json"), { name, version, type: "module", ...manifest });
  await write(join(folder, file), "export const where = import.meta.url;");
  return pathToFileURL(join(folder, file)).href;
}

const inState = async () => join(vendorStateFolder(stateDir, "demo"), (await readLockedPackages(root))?.hash ?? "");
const vendor = (channels: string[] = []) => createPluginVendor({ id: "demo", root, stateDir, channels });

describe("where a package is found", () => {
  test("the plugin's own folder comes first, then the state directory under the hash of the lock", async () => {
    const state = await install(await inState(), "whole", "1.0.0");
    expect(await vendor().resolve("whole")).toBe(state);
    const own = await install(join(root, "vendor"), "whole", "1.0.0");
    expect(await vendor().resolve("whole")).toBe(own);
    expect(await vendor().load<{ where: string }>("whole")).toMatchObject({ where: own });
  });

  test("another version than the locked one is none", async () => {
    await install(join(root, "vendor"), "whole", "0.9.0");
    await expect(vendor().resolve("whole")).rejects.toMatchObject({ code: "missing-dependency" });
    const state = await install(await inState(), "whole", "1.0.0");
    expect(await vendor().resolve("whole")).toBe(state);
  });

  test("packages of an earlier lock file are none", async () => {
    await install(await inState(), "whole", "1.0.0");
    await lock({ whole: "1.0.0", more: "1.0.0" });
    await expect(vendor().resolve("whole")).rejects.toMatchObject({ code: "missing-dependency" });
  });

  test("one that is cut off by a power failure counts as missing", async () => {
    await install(await inState(), "whole", "1.0.0");
    await write(join(await inState(), "node_modules/whole/package.json"), '{"name": "who');
    expect(await missingPackages({ id: "demo", root }, stateDir)).toEqual(["whole", "@scope/own"]);
  });
});

test.each([
  ["conditions that hold, the first of them", { exports: { ".": { require: "./no.cjs", node: { import: "./lib/a.js" } } } }, "lib/a.js"],
  ["exports without paths", { exports: { browser: "./no.js", import: "./b.js" } }, "b.js"],
  ["exports that are one file", { exports: "./c.js", main: "./no.js" }, "c.js"],
  ["a list of exports", { exports: [{ browser: "./no.js" }, "./d.js"] }, "d.js"],
  ["main", { main: "lib/e.js" }, "lib/e.js"],
  ["main without an extension", { main: "lib/f" }, "lib/f.js"],
  ["main that is a folder", { main: "./lib/g" }, "lib/g/index.js"],
  ["nothing", {}, "index.js"],
])("the entry of a package with %s", async (_, manifest, file) => {
  const expected = await install(join(root, "vendor"), "@scope/own", "2.0.0", manifest, file);
  expect(await vendor().resolve("@scope/own")).toBe(expected);
});

describe("a package that is not there is a missing-dependency", () => {
  test.each([
    ["of a plugin", [], "run: svc plugins add-packages demo"],
    ["of a channel's plugin", ["irc", "irc2"], "run: svc channels add irc"],
  ])("%s, with the command that installs it", async (_, channels, command) => {
    const message = `demo: its package "whole" is not installed; ${command}`;
    await expect(vendor(channels).load("whole")).rejects.toMatchObject({ code: "missing-dependency", message });
  });

  test.each(["other", "whole/inner", "../whole", "@scope", ""])("%j, which is not locked, says so to the author", async (name) => {
    await install(join(root, "vendor"), "other", "1.0.0");
    await expect(vendor().resolve(name)).rejects.toMatchObject({
      message: expect.stringContaining("is not locked by the plugin; list and lock"),
    });
  });

  test("and so is one that has types only", async () => {
    await install(join(root, "vendor"), "whole", "1.0.0", { exports: { ".": { types: "./index.d.ts" } } });
    await expect(vendor().resolve("whole")).rejects.toMatchObject({ message: expect.stringContaining("no module that can be imported") });
  });
});

test("a plugin without packages lacks none, and the hash follows both files", async () => {
  const first = (await readLockedPackages(root))?.hash;
  const copy = join(base, "copy");
  await cp(root, copy, { recursive: true });
  expect((await readLockedPackages(copy))?.hash).toBe(first);
  await lock({ whole: "1.0.1", "@scope/own": "2.0.0" });
  expect((await readLockedPackages(root))?.hash).not.toBe(first);
  expect(await missingPackages({ id: "demo", root: join(base, "bare") }, stateDir)).toEqual([]);
});
