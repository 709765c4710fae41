import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type PublishedPackage, startFakeRegistry } from "../fakes/npm-registry.ts";
import { type TarEntry, tarball } from "../fakes/tarball.ts";
import { configured, freshHome, gatewayIn, json as programJson, stopAll } from "./_cli.ts";
import { command, commandJson } from "./_command.ts";
import { gatewayHere } from "./_gateway-here.ts";
import { type Home, svcCommand } from "./_process.ts";

let home: Home;
beforeEach(async () => {
  home = await configured(await freshHome());
});
afterEach(stopAll);

/** Files of a plugin with a method and a command; its code leaves a trace wherever it runs. */
function filesOf(version: string, manifest: Record<string, unknown> = {}): Record<string, string> {
  const trace = join(home.stateDir, "..", "ran");
  const base = {
    ...{ id: "demo", version, svc: { api: "^1.0.0" }, permissions: ["net"] },
    contributes: { rpc: ["demo.version"], cli: ["demo say"] },
    cli: [{ name: "demo say", description: "Say which version this is", module: "cli/say.ts" }],
  };
  return {
    "svc.plugin.json": JSON.stringify({ ...base, ...manifest }),
    "index.ts": `import { writeFileSync } from "node:fs";
      import { definePlugin, z } from "svc/sdk";
      writeFileSync(${JSON.stringify(trace)}, "");
      export default definePlugin({ id: ${JSON.stringify(manifest.id ?? "demo")}, version: "${version}", svc: { api: "^1.0.0" }, setup(ctx) {
        ctx.registerRpc({ method: "demo.version", scope: "read", params: z.strictObject({}), handler: () => ({ version: "${version}" }) });
      } });`,
    "cli/say.ts": `import { defineCommand } from "svc/sdk";
      export default defineCommand({ path: ["demo", "say"], summary: "Say which version this is", run: async (cli) => {
        cli.stdout.line("demo ${version}");
        return 0;
      } });`,
  };
}

async function folderOf(version: string, manifest?: Record<string, unknown>): Promise<string> {
  return write(join(home.stateDir, "..", `source-${version}`), filesOf(version, manifest));
}

async function write(folder: string, files: Record<string, string>): Promise<string> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  return folder;
}

const packed = (files: Record<string, string>, more: TarEntry[] = []) =>
  tarball([...Object.entries(files).map(([path, content]) => ({ name: `package/${path}`, content })), ...more]);
const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );
const hasRun = () => exists(join(home.stateDir, "..", "ran"));
const installed = () => readdir(join(home.stateDir, "plugins"));
const svc = (...args: string[]) => command(home, args);
const json = (args: string[], env?: Record<string, string>) => commandJson(home, args, env);
/** The program itself, in a process of its own; whatever runs code of a plugin. */
const program = (...args: string[]) => svcCommand(home, args);

/** Row of a plugin in `plugins list` of the running gateway. */
async function stateOf(id: string, origin = "global"): Promise<Record<string, unknown> | undefined> {
  const { value } = await json(["plugins", "list"]);
  return (value.plugins as Array<Record<string, unknown>>).find((p) => p.id === id && p.origin === origin);
}

async function entryOf(id: string): Promise<unknown> {
  const config = JSON.parse(await readFile(join(home.stateDir, "svc.json"), "utf8")) as { plugins?: { entries?: Record<string, unknown> } };
  return config.plugins?.entries?.[id];
}

describe("with a running gateway", () => {
  test("a plugin is installed, granted, called, replaced and removed without a restart", async () => {
    const gateway = await gatewayIn(home);

    const first = await programJson(home, ["plugins", "install", await folderOf("1.0.0"), "--grant", "net"]);
    expect(first).toMatchObject({ code: 0, value: { ok: true, plugin: { id: "demo", version: "1.0.0" }, state: "active" } });
    expect(await entryOf("demo")).toEqual({ enabled: true, grants: ["net"] });
    expect((await json(["gateway", "call", "demo.version"])).value).toMatchObject({ version: "1.0.0" });

    const second = await json(["plugins", "install", await folderOf("1.1.0")]);
    expect(second.value).toMatchObject({
      replaced: "1.0.0",
      state: "active",
      plugin: { permissions: [{ permission: "net", granted: true }] },
    });
    expect((await json(["gateway", "call", "demo.version"])).value).toMatchObject({ version: "1.1.0" });
    expect((await program("demo", "say")).stdout).toBe("demo 1.1.0\n");

    expect((await program("--help")).stdout).toMatch(/demo say +Say which version this is/);

    expect(await json(["plugins", "uninstall", "demo"])).toMatchObject({
      code: 0,
      value: { plugin: { id: "demo", version: "1.1.0" } },
    });
    expect((await json(["gateway", "call", "demo.version"])).code).toBe(1);
    expect(await entryOf("demo")).toBeUndefined();
    expect(await installed()).toEqual(["index.json"]);
    expect((await svc("demo", "say")).code).toBe(2);
    expect(gateway.child.exitCode).toBeNull();
  });
});

describe("without a gateway", () => {
  test("a packed plugin is installed without running anything of it, and loads with the next start", async () => {
    const archive = join(home.stateDir, "..", "demo-1.0.0.tgz");
    await writeFile(archive, packed(filesOf("1.0.0")));

    const done = await svc("plugins", "install", archive);
    expect(done).toMatchObject({ code: 0 });
    expect(done.stdout).toContain("not granted net: opens connections");
    expect(await hasRun()).toBe(false);

    await gatewayHere(home);
    expect(await stateOf("demo")).toMatchObject({ state: "active", version: "1.0.0" });
  });

  test("a published plugin is installed in its exact version", async () => {
    const published: PublishedPackage[] = ["1.0.0", "1.1.0"].map((version) => {
      const packageJson = JSON.stringify({ name: "svc-plugin-demo", version, scripts: { install: "exit 1" } });
      return { name: "svc-plugin-demo", version, tarball: packed({ ...filesOf(version), "package.json": packageJson }) };
    });
    const registry = await startFakeRegistry(published);
    try {
      await writeFile(join(home.stateDir, "..", ".npmrc"), `registry=${registry.url}\n`);
      const done = await json(["plugins", "install", "npm:svc-plugin-demo@^1.0.0", "--yes"]);
      expect(done).toMatchObject({ code: 0, value: { source: { kind: "npm", spec: "svc-plugin-demo@1.1.0" } } });
      const index = JSON.parse(await readFile(join(home.stateDir, "plugins/index.json"), "utf8")) as { plugins: Record<string, unknown> };
      expect(index.plugins.demo).toMatchObject({
        version: "1.1.0",
        source: { kind: "npm", spec: "svc-plugin-demo@1.1.0", integrity: expect.stringMatching(/^sha512-/) },
        integrity: expect.stringMatching(/^sha512-/),
      });
    } finally {
      await registry.close();
    }
  });
});

test("one changed byte keeps an installed plugin, and its commands, from running until it is confirmed", async () => {
  await svc("plugins", "install", await folderOf("1.0.0"));
  await writeFile(join(home.stateDir, "plugins/demo/cli/say.ts"), `${filesOf("1.0.0")["cli/say.ts"]} `);

  expect(await svc("demo", "say")).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("integrity") });
  const doctor = await json(["plugins", "doctor"]);
  expect(doctor.code).toBe(1);
  expect(doctor.value.findings).toEqual([
    expect.objectContaining({ plugin: "demo", severity: "error", fix: expect.stringContaining("svc plugins install --confirm demo") }),
  ]);
  await gatewayHere(home);
  expect(await stateOf("demo")).toMatchObject({ state: "blocked", reason: expect.stringContaining("integrity") });
  expect(await hasRun()).toBe(false);

  expect(await json(["plugins", "install", "--confirm", "demo"])).toMatchObject({
    code: 0,
    value: { changed: true, state: "active" },
  });
  expect((await svc("demo", "say")).stdout).toBe("demo 1.0.0\n");
});

test("a plugin dropped into the workspace does not load by itself, and its commands do not exist", async () => {
  await write(join(home.stateDir, "workspace/.svc/plugins/demo"), filesOf("1.0.0"));
  await gatewayHere(home);
  expect(await stateOf("demo", "workspace")).toMatchObject({ state: "disabled", reason: expect.stringContaining("not-enabled") });
  expect((await svc("demo", "say")).code).toBe(2);
  expect(await hasRun()).toBe(false);
});

test("a plugin of somebody else takes the place of a bundled one only when the operator says so", async () => {
  const source = await folderOf("1.0.0", { id: "operator", contributes: { rpc: ["demo.version"] }, cli: [] });
  const refused = await json(["plugins", "install", source]);
  expect(refused).toMatchObject({ code: 1, value: { ok: false, error: { code: "plugin-shadows-bundled" } } });
  expect(await installed()).toEqual([]);

  expect((await svc("plugins", "install", source, "--replace-bundled")).code).toBe(0);
  expect(await stateOf("operator", "bundled")).toMatchObject({ reason: expect.stringContaining("the installed plugin of this id wins") });
});

describe("nothing is left behind when", () => {
  test.each<[string, () => Promise<string>, string]>([
    ["an archive leads out of its folder", () => archiveOf({}, { name: "package/../../../../evil.ts", content: "x" }), "archive-refused"],
    ["an archive holds a link", () => archiveOf({}, { name: "package/link", type: "2", link: "/etc/passwd" }), "archive-refused"],
    ["an archive is a bomb", () => archiveOf({}, { name: "package/zeros", content: Buffer.alloc(4_000_000) }), "archive-refused"],
    ["the plugin is for another API", () => folderOf("1.0.0", { svc: { api: "^9.0.0" } }), "plugin-refused"],
    ["its entry is outside", () => folderOf("1.0.0", { entry: "../source.ts" }), "plugin-refused"],
    ["its id is a path", () => folderOf("1.0.0", { id: "../../x" }), "plugin-refused"],
    ["its dependencies have no lockfile", () => archiveOf({ "package.json": '{"dependencies":{"x":"*"}}' }), "plugin-lockfile-missing"],
    ["there is no such folder", async () => "/nowhere/at/all", "plugin-source-invalid"],
  ])("%s", async (_, source, code) => {
    const done = await json(["plugins", "install", await source()]);
    expect(done.value).toMatchObject({ ok: false, error: { code } });
    expect(done.code).toBeGreaterThan(0);
    expect(await installed().catch(() => [])).toEqual([]);
    expect(await entryOf("demo")).toBeUndefined();
    expect(await exists(join(home.stateDir, "..", "evil.ts"))).toBe(false);
    expect(await hasRun()).toBe(false);
  });

  async function archiveOf(files: Record<string, string>, ...more: TarEntry[]): Promise<string> {
    const path = join(home.stateDir, "..", "demo.tgz");
    await writeFile(path, packed({ ...filesOf("1.0.0"), ...files }, more));
    return path;
  }
});

test("a plugin that could not be written into the config is not put in place", async () => {
  const done = await json(["plugins", "install", await folderOf("1.0.0")], { SVC_CONFIG_READONLY: "1" });
  expect(done.value).toMatchObject({ ok: false, error: { code: "config-readonly" } });
  expect(done.code).toBeGreaterThan(0);
  expect(await installed()).toEqual([]);
});

test("what was granted to one package is not granted to another of the same id, not even when the first one's entry was kept", async () => {
  await svc("plugins", "install", await folderOf("1.0.0"), "--grant", "net");
  expect(await entryOf("demo")).toEqual({ enabled: true, grants: ["net"] });
  await svc("plugins", "install", await folderOf("1.1.0"));
  expect(await entryOf("demo")).toEqual({ enabled: true, grants: ["net"] });

  const other = await write(join(home.stateDir, "..", "somebody-elses"), filesOf("2.0.0"));
  expect((await json(["plugins", "install", other])).value).toMatchObject({
    plugin: { permissions: [{ permission: "net", granted: false }] },
  });
  expect(await entryOf("demo")).toEqual({ enabled: true, grants: [] });

  await svc("plugins", "install", other, "--grant", "net");
  await svc("plugins", "uninstall", "demo", "--keep-config");
  await svc("plugins", "install", await folderOf("1.0.0"));
  expect(await entryOf("demo")).toEqual({ enabled: true, grants: [] });
});

describe("a slip is told as one:", () => {
  test.each([
    [["plugins", "install"], "expected a folder, a .tgz file or npm:<name>[@<version>]"],
    [["plugins", "install", "x", "--confirm", "demo"], "not both"],
    [["plugins", "install", "npm:@x/../../y"], "expected the name of an npm package"],
    [["plugins", "uninstall"], "plugins uninstall"],
    [["plugins", "uninstall", "demo"], "was not installed by svc plugins install"],
    [["plugins", "install", "--confirm", "demo"], "was not installed by svc plugins install"],
  ])("svc %j", async (args, message) => {
    const done = await svc(...args);
    expect(done.code).toBeGreaterThan(0);
    expect(done.stderr).toContain(message);
  });
});

test("without a gateway, doctor imports plugins in a process of its own: what throws, leaves or has no default export is told, the rest is fine", async () => {
  const broken: Record<string, string> = {
    throws: 'throw new Error("boom");',
    leaves: "process.exit(7);",
    empty: "export const x = 1;",
    fine: 'import { definePlugin } from "svc/sdk"; export default definePlugin({ id: "fine", version: "1.0.0", svc: { api: "*" }, setup() { process.exit(9); } });',
  };
  for (const [id, source] of Object.entries(broken)) {
    const manifest = JSON.stringify({ id, version: "1.0.0", svc: { api: "*" } });
    await write(join(home.stateDir, "mine", id), { "index.ts": source, "svc.plugin.json": manifest });
  }
  const paths = Object.keys(broken).map((id) => join("mine", id));
  await configured(home, { gateway: { mode: "local" }, plugins: { load: { paths } } });

  const { code, value } = await programJson(home, ["plugins", "doctor"]);
  expect(code).toBe(1);
  const told = (value.findings as Array<{ plugin: string; message: string }>).map((f) => [f.plugin, f.message]);
  expect(told).toEqual([
    ["empty", expect.stringContaining("no default export made by definePlugin")],
    ["leaves", expect.stringContaining("its import ended the process (exit code 7)")],
    ["throws", expect.stringContaining("boom")],
  ]);
});

test("doctor has nothing to say about a fresh installation, and tells a record without files and a name that leads nowhere", async () => {
  expect(await json(["plugins", "doctor"])).toMatchObject({ code: 0, value: { ok: true, findings: [] } });

  await svc("plugins", "install", await folderOf("1.0.0"), "--yes");
  await rm(join(home.stateDir, "plugins/demo"), { recursive: true });
  const { code, value } = await json(["plugins", "doctor"]);
  expect(code).toBe(1);
  expect(value.findings).toEqual([
    expect.objectContaining({ id: "plugins/missing", plugin: "demo", severity: "warning" }),
    expect.objectContaining({ id: "plugins/missing", path: "plugins.entries.demo" }),
  ]);
  await writeFile(join(home.stateDir, "plugins/index.json"), "{");
  expect((await json(["plugins", "doctor"])).code).toBe(2);
});
