import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PluginCandidate } from "svc/sdk";
import { processStartTime } from "svc/sdk/internal";
import { eventually } from "svc/sdk/testing";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type FakeRegistry, integrityOf, type PublishedPackage, startFakeRegistry } from "../../../test/fakes/npm-registry.ts";
import { tarball } from "../../../test/fakes/tarball.ts";
import { withFileLock } from "../../../test/tools/file-lock.ts";
import { vendorPackages } from "../../../test/tools/installed-plugins.ts";
import { createPluginVendor } from "../../../test/tools/plugin-vendor.ts";
import { installPackages, type PackagesHost } from "./install-packages.ts";

const published = [packed("dep", "1.0.0"), packed("dep", "2.0.0"), packed("inner", "1.0.0")];
let registry: FakeRegistry;
let base: string;
let root: string;
let stateDir: string;
let abort: AbortController;
let progress: Array<[number, number]>;
let isIdle: boolean;

beforeAll(async () => {
  registry = await startFakeRegistry(published);
});
afterAll(() => registry.close());
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "svc-packages-"));
  root = join(base, "plugin");
  stateDir = join(base, "state");
  abort = new AbortController();
  progress = [];
  isIdle = true;
  await mkdir(join(base, "home"));
  await useRegistry(registry.url);
  await plugin("1.0.0");
});
afterEach(async () => {
  await chmod(join(root, "vendor"), 0o700);
  await rm(base, { recursive: true, force: true });
});

/** A package whose scripts leave a trace when somebody runs them. */
function packed(name: string, version: string): PublishedPackage {
  const trace = `node -e "require('fs').writeFileSync(process.env.HOME + '/ran', '')"`;
  const manifest = { name, version, type: "module", scripts: { preinstall: trace, install: trace, postinstall: trace } };
  const files = { "package.json": JSON.stringify(manifest), "index.js": `export const version = "${version}";` };
  return { name, version, tarball: tarball(Object.entries(files).map(([path, content]) => ({ name: `package/${path}`, content }))) };
}

async function useRegistry(url: string): Promise<void> {
  await writeFile(join(base, "home/.npmrc"), `registry=${url}\nfetch-retries=0\n`);
}

/** A plugin in a folder that nobody may write to. */
async function plugin(version: string, lock: object = {}): Promise<void> {
  const vendor = join(root, "vendor");
  await mkdir(join(vendor, "empty"), { recursive: true });
  await chmod(vendor, 0o700);
  const locked = published.filter((one) => one.name === "inner" || one.version === version);
  const packages = Object.fromEntries(
    locked.map((one) => [
      `node_modules/${one.name}`,
      { version: one.version, integrity: integrityOf(one.tarball), hasInstallScript: true },
    ]),
  );
  const own = { name: "demo-vendor", version: "1.0.0", dependencies: { dep: version, inner: "1.0.0", none: "file:empty" } };
  // In place of a package that is left out.
  const none = { "node_modules/none": { resolved: "empty", link: true }, empty: { name: "none", version: "1.0.0" } };
  await writeFile(join(vendor, "empty/package.json"), JSON.stringify({ name: "none", version: "1.0.0" }));
  await writeFile(join(vendor, "package.json"), JSON.stringify(own));
  await writeFile(
    join(vendor, "package-lock.json"),
    JSON.stringify({ ...own, lockfileVersion: 3, packages: { "": own, ...packages, ...none, ...lock } }),
  );
  await writeFile(join(vendor, ".npmrc"), "registry=http://127.0.0.1:1/\n");
  await chmod(vendor, 0o500);
}

const candidate = () => ({ id: "demo", root, manifest: { contributes: { channels: ["talk"] } } }) as unknown as PluginCandidate;
const host = (over: Partial<PackagesHost> = {}): PackagesHost => ({
  vendor: vendorPackages(stateDir),
  env: { PATH: process.env.PATH, HOME: join(base, "home") },
  signal: abort.signal,
  fileLock: withFileLock,
  progress: (...both) => void progress.push(both),
  isIdle: async () => isIdle,
  ...over,
});
const install = (over: Partial<PackagesHost> = {}) => installPackages(candidate(), host(over));
const vendor = () => createPluginVendor({ id: "demo", root, stateDir });
const home = () => readdir(join(stateDir, "vendor/demo"));

test("packages come in the locked versions beside a folder that is only read, without a script, counted as they come", async () => {
  await expect(vendor().load("dep")).rejects.toMatchObject({ code: "missing-dependency" });
  expect(await install()).toMatchObject({ state: "installed", packages: ["dep 1.0.0", "inner 1.0.0", "none 1.0.0"] });

  expect(await vendor().load("dep")).toMatchObject({ version: "1.0.0" });
  expect(progress[0]).toEqual([0, 2]);
  expect(progress.at(-1)).toEqual([2, 2]);
  expect(await readdir(join(base, "home"))).not.toContain("ran");
  const [folder = ""] = await home();
  expect(await readdir(join(stateDir, "vendor/demo", folder))).not.toContain(".npmrc");
  expect((await stat(join(stateDir, "vendor/demo"))).mode & 0o777).toBe(0o700);

  const asked = registry.requests.length;
  expect(await install()).toEqual({ state: "present" });
  expect(registry.requests).toHaveLength(asked);
});

test("packages of an earlier lock file stay while a gateway runs, and go with an install without one", async () => {
  await install();
  await plugin("2.0.0");
  isIdle = false;
  await install();
  expect(await home()).toHaveLength(2);
  expect(await vendor().load("dep")).toMatchObject({ version: "2.0.0" });

  await rm(join(stateDir, "vendor/demo", (await home())[0] as string), { recursive: true });
  await rm(join(stateDir, "vendor/demo", (await home())[0] as string), { recursive: true });
  await plugin("1.0.0");
  await install();
  await plugin("2.0.0");
  isIdle = true;
  await install();
  expect(await home()).toHaveLength(1);
});

describe("what keeps packages away says what to do, and leaves nothing", () => {
  afterEach(async () => expect(await home().catch(() => [])).toEqual([]));

  test("no npm on the machine", async () => {
    const { execPath } = process;
    Object.defineProperty(process, "execPath", { value: join(base, "node"), configurable: true, writable: true });
    try {
      const message =
        "demo: its packages were not installed, and nothing was changed: npm --version: there is no npm on the PATH; install it (it comes with Node.js); run again: svc channels add talk";
      await expect(install({ env: { PATH: base } })).rejects.toMatchObject({ code: "packages-not-installed", message });
    } finally {
      Object.defineProperty(process, "execPath", { value: execPath, configurable: true, writable: true });
    }
  });

  test("no network", async () => {
    await useRegistry("http://127.0.0.1:1/");
    const message = expect.stringMatching(
      /ECONNREFUSED.*; check the network, HTTPS_PROXY and the registry .* run again: svc channels add talk$/,
    );
    await expect(install()).rejects.toMatchObject({ code: "packages-not-installed", message });
  });

  test("bytes that are not those of the lock", async () => {
    await plugin("1.0.0", { "node_modules/dep": { version: "1.0.0", integrity: integrityOf(Buffer.from("other")) } });
    await expect(install()).rejects.toMatchObject({ code: "packages-not-installed", message: expect.stringMatching(/integrity/i) });
  });

  test("a stop by the operator", async () => {
    const stopped = install({ progress: () => abort.abort() });
    await expect(stopped).rejects.toMatchObject({ message: expect.stringContaining("stopped") });
  });

  test.each([
    ["without a hash", { version: "1.0.0" }],
    ["that leads out of the folder", { link: true, resolved: "../../other" }],
  ])("a locked package %s", async (_, locked) => {
    await plugin("1.0.0", { "node_modules/dep": locked });
    await expect(install()).rejects.toMatchObject({ code: "plugin-lockfile-missing" });
  });
});

describe("several installs", () => {
  let silent: Server;
  let waiting: Promise<unknown>;
  beforeEach(async () => {
    silent = createServer().listen(0, "127.0.0.1");
    waiting = once(silent, "request");
    await once(silent, "listening");
    await useRegistry(`http://127.0.0.1:${(silent.address() as AddressInfo).port}/`);
  });
  afterEach(() => {
    silent.closeAllConnections();
    silent.close();
  });

  test("the second at the same time is refused with the process that is at it", async () => {
    const first = install();
    await waiting;
    await expect(install()).rejects.toMatchObject({ code: "install-locked", message: expect.stringContaining(`pid ${process.pid}`) });
    abort.abort();
    await expect(first).rejects.toThrow("stopped");
  });

  test("what a killed one left goes with the next", async () => {
    const dead = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
    await once(dead, "spawn");
    const owner = { pid: dead.pid as number, startTime: processStartTime(dead.pid as number), createdAt: Date.now() };
    dead.kill("SIGKILL");
    await once(dead, "exit");
    await mkdir(join(stateDir, "vendor/demo/.staging-dead/vendor/node_modules"), { recursive: true });
    await writeFile(join(stateDir, "vendor/demo/.install.lock"), JSON.stringify(owner));
    await useRegistry(registry.url);

    expect(await install()).toMatchObject({ state: "installed" });
    await eventually(async () => (await home()).length === 1);
  });
});
