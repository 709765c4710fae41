import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type FakeRegistry, integrityOf, type PublishedPackage, startFakeRegistry } from "../../../test/fakes/npm-registry.ts";
import { tarball } from "../../../test/fakes/tarball.ts";
import { installDependencies } from "./dependencies.ts";
import { fetchPlugin } from "./fetch.ts";
import { childEnv } from "./npm.ts";

let base: string;
let env: Record<string, string | undefined>;
let registry: FakeRegistry | undefined;
const signal = new AbortController().signal;

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "svc-npm-"));
  await mkdir(join(base, "home"));
  await mkdir(join(base, "staging"));
  env = { PATH: process.env.PATH, HOME: join(base, "home") };
});
afterEach(async () => {
  await registry?.close();
  await rm(base, { recursive: true, force: true });
});

/** A package whose scripts leave a trace when somebody runs them. */
function packed(name: string, version: string, files: Record<string, string> = {}): PublishedPackage {
  const trace = `node -e "require('fs').writeFileSync(process.env.HOME + '/ran', '')"`;
  const manifest = JSON.stringify({ name, version, scripts: { preinstall: trace, install: trace, postinstall: trace, prepack: trace } });
  const all = { "package.json": manifest, "index.js": "module.exports = 1;", ...files };
  return { name, version, tarball: tarball(Object.entries(all).map(([path, content]) => ({ name: `package/${path}`, content }))) };
}

async function publish(...packages: PublishedPackage[]): Promise<void> {
  registry = await startFakeRegistry(packages);
  await writeFile(join(base, "home/.npmrc"), `registry=${registry.url}\nfetch-retries=0\n`);
}

const fetch = (spec: string) => fetchPlugin(spec, join(base, "staging"), { cwd: base, env, signal });
const ran = async () => (await readdir(join(base, "home"))).includes("ran");

describe("a plugin of the registry", () => {
  test("comes in the newest version of the range, exactly named and with the hash of what came", async () => {
    const wanted = packed("svc-notes", "1.2.0", { "svc.plugin.json": "{}" });
    await publish(packed("svc-notes", "1.0.0"), wanted, packed("svc-notes", "2.0.0"));

    const fetched = await fetch("npm:svc-notes@^1.0.0");
    expect(fetched).toMatchObject({ kind: "npm", spec: "svc-notes@1.2.0", integrity: expect.stringMatching(/^sha512-/) });
    expect((await readdir(fetched.folder)).sort()).toEqual(["index.js", "package.json", "svc.plugin.json"]);
    expect(await ran()).toBe(false);
  });

  test("may have a scope, which names no folder", async () => {
    await publish(packed("@notes/svc-plugin", "1.0.0", { "svc.plugin.json": "{}" }));
    const fetched = await fetch("npm:@notes/svc-plugin");
    expect(fetched.spec).toBe("@notes/svc-plugin@1.0.0");
    expect(fetched.folder).toBe(join(base, "staging/content/package"));
  });

  test("is refused when its bytes are not those that the registry vouches for", async () => {
    await publish({ ...packed("svc-notes", "1.0.0"), integrity: integrityOf(Buffer.from("other")) });
    await expect(fetch("npm:svc-notes")).rejects.toMatchObject({
      code: "npm-failed",
      message: expect.stringMatching(/integrity|EINTEGRITY/i),
    });
  });

  test("that nobody has published says so in one line", async () => {
    await publish();
    const failure = fetch("npm:svc-nowhere");
    await expect(failure).rejects.toMatchObject({ code: "npm-failed", message: expect.stringMatching(/^npm pack: .*(404|Not found)/) });
    await expect(failure).rejects.toThrow(/^[^\n]*$/);
  });
});

describe("dependencies", () => {
  async function plugin(packageJson: object, lock?: object, below = ""): Promise<string> {
    const folder = join(base, "plugin");
    await mkdir(join(folder, below), { recursive: true });
    await writeFile(join(folder, below, "package.json"), JSON.stringify({ name: "p", version: "1.0.0", ...packageJson }));
    if (lock) await writeFile(join(folder, below, "package-lock.json"), JSON.stringify(lock));
    return folder;
  }
  const lockOf = (dep: PublishedPackage, own: object = {}, integrity = integrityOf(dep.tarball)) => ({
    ...{ name: "p", version: "1.0.0", lockfileVersion: 3, requires: true },
    packages: {
      "": { name: "p", version: "1.0.0", dependencies: { [dep.name]: "^1.0.0" }, ...own },
      [`node_modules/${dep.name}`]: { version: dep.version, integrity, hasInstallScript: true },
    },
  });
  let started: number;
  const install = (folder: string) => {
    started = 0;
    return installDependencies(folder, { spec: "p", env, signal, onStart: () => void started++ });
  };
  const dep = packed("dep", "1.0.0");

  test.each(["", "vendor"])("come exactly as the lockfile says, and none of their scripts runs (%j)", async (below) => {
    await publish(dep, packed("dep", "1.9.0"));
    const folder = await plugin({ dependencies: { dep: "^1.0.0" } }, lockOf(dep), below);
    await writeFile(join(folder, below, ".npmrc"), "registry=http://127.0.0.1:1/\n");

    await install(folder);
    const manifest = JSON.parse(await readFile(join(folder, below, "node_modules/dep/package.json"), "utf8")) as { version: string };
    expect(manifest.version).toBe("1.0.0");
    expect(started).toBe(1);
    expect(await ran()).toBe(false);
  });

  test("with other bytes than the lockfile's hash are refused", async () => {
    await publish(dep);
    const folder = await plugin({ dependencies: { dep: "^1.0.0" } }, lockOf(dep, {}, integrityOf(Buffer.from("other"))));
    await expect(install(folder)).rejects.toMatchObject({ code: "npm-failed" });
  });

  test.each([
    ["no lockfile", undefined, "there is no lockfile"],
    [
      "a lockfile without a hash",
      { packages: { "": {}, "node_modules/dep": { version: "1.0.0" } } },
      "no integrity hash for node_modules/dep",
    ],
    ["a lockfile with a link", { packages: { "": {}, "node_modules/dep": { link: true, resolved: "../dep" } } }, "no integrity hash for"],
    ["an empty lockfile", { packages: { "": {} } }, "its lockfile names no packages"],
  ])("are refused with %s, before npm is asked", async (_, lock, reason) => {
    const folder = await plugin({ dependencies: { dep: "^1.0.0" } }, lock);
    await expect(install(folder)).rejects.toMatchObject({ code: "plugin-lockfile-missing", message: expect.stringContaining(reason) });
    expect(started).toBe(0);
  });

  test("that are none need neither lockfile nor npm", async () => {
    env = { HOME: env.HOME, PATH: "" };
    await install(await plugin({ peerDependencies: { svc: "*" }, devDependencies: { vitest: "*" } }));
    await rm(join(base, "plugin"), { recursive: true });
    await mkdir(join(base, "plugin"));
    await install(join(base, "plugin"));
    expect(started).toBe(0);
  });

  test("are installed also where the link to the author's own svc leads nowhere", async () => {
    await publish(dep);
    const own = { devDependencies: { svc: "file:/nowhere/svc" } };
    const lock = lockOf(dep, own);
    Object.assign(lock.packages, {
      "../../nowhere/svc": { name: "svc", version: "0.1.0", dev: true, dependencies: { "never-published": "1.0.0" } },
      "node_modules/svc": { resolved: "../../nowhere/svc", link: true },
    });
    const folder = await plugin({ dependencies: { dep: "^1.0.0" }, ...own }, lock);
    const before = await readFile(join(folder, "package.json"), "utf8");

    await install(folder);

    expect((await readdir(join(folder, "node_modules"))).filter((name) => !name.startsWith("."))).toEqual(["dep"]);
    expect((await readdir(folder)).sort()).toEqual(["node_modules", "package-lock.json", "package.json"]);
    expect(await readFile(join(folder, "package.json"), "utf8")).toBe(before);
  });

  test("for development and of the host stay away", async () => {
    await publish(dep);
    const own = { devDependencies: { tool: "^1.0.0" }, peerDependencies: { svc: ">=0.1.0" } };
    const lock = lockOf(dep, own);
    Object.assign(lock.packages, {
      "node_modules/svc": { version: "0.1.0", peer: true },
      "node_modules/tool": { version: "1.0.0", dev: true },
    });
    const folder = await plugin({ dependencies: { dep: "^1.0.0" }, ...own }, lock);
    await install(folder);
    expect((await readdir(join(folder, "node_modules"))).filter((name) => !name.startsWith("."))).toEqual(["dep"]);
  });
});

test("a child sees where npm lives and how to reach the network, and nothing of the gateway", () => {
  const given = { PATH: "/bin", HOME: "/home/me", HTTPS_PROXY: "p", npm_config_registry: "r", LC_ALL: "C" };
  const kept = {
    SVC_GATEWAY_TOKEN: "t",
    OPENAI_API_KEY: "k",
    NODE_OPTIONS: "--require x",
    LD_PRELOAD: "x",
    DYLD_INSERT_LIBRARIES: "x",
    PATHS: "x",
  };
  expect(childEnv({ ...given, ...kept, UNSET: undefined })).toEqual(given);
});
