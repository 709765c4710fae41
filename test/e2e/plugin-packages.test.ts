import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type FakeRegistry, integrityOf, startFakeRegistry } from "../fakes/npm-registry.ts";
import { tarball } from "../fakes/tarball.ts";
import { configured, json, stopAll } from "./_cli.ts";
import { command, commandJson } from "./_command.ts";
import { type PackedProduct, packProduct } from "./_packed.ts";
import { type Home, svcCommand } from "./_process.ts";

/** Packages of plugins, installed by the product as its users get it: packed, and with a folder of its own that nothing writes to. */

const dep = {
  name: "dep",
  version: "1.0.0",
  tarball: tarball(
    Object.entries({
      "package.json": JSON.stringify({ name: "dep", version: "1.0.0", type: "module" }),
      "index.js": 'export const word = "here";',
    }).map(([path, content]) => ({ name: `package/${path}`, content })),
  ),
};
let registry: FakeRegistry;
let product: PackedProduct;
let home: Home;

beforeAll(async () => {
  registry = await startFakeRegistry([dep]);
  product = await packProduct();
  home = await product.home();
  await writeFile(join(home.env.HOME as string, ".npmrc"), `registry=${registry.url}\nfetch-retries=0\n`);
  const plugin = await writePlugin(join(home.env.HOME as string, "demo"));
  await configured(home, { gateway: { mode: "local" }, plugins: { load: { paths: [plugin] } }, channels: { demo: { host: "h" } } });
});
afterAll(async () => {
  await stopAll();
  await home?.remove();
  await registry?.close();
});

async function writePlugin(folder: string): Promise<string> {
  const channelConfigs = {
    demo: { type: "object", properties: { host: { type: "string" }, nick: { type: "string" } }, required: ["host", "nick"] },
  };
  const manifest = {
    id: "demo",
    version: "1.0.0",
    svc: { api: "^1.0.0" },
    contributes: { channels: ["demo"] },
    activation: ["channel:demo"],
  };
  const own = { name: "demo-vendor", version: "1.0.0", dependencies: { dep: "1.0.0" } };
  const lock = {
    ...own,
    lockfileVersion: 3,
    packages: { "": own, "node_modules/dep": { version: "1.0.0", integrity: integrityOf(dep.tarball) } },
  };
  const files = {
    "svc.plugin.json": JSON.stringify({ ...manifest, channelConfigs, secrets: [{ path: "channels.demo.token", env: ["DEMO_TOKEN"] }] }),
    "index.ts": `import { definePlugin } from "svc/sdk"; export default definePlugin({ id: "demo", version: "1.0.0", svc: { api: "^1.0.0" }, setup() {} });`,
    "vendor/package.json": JSON.stringify(own),
    "vendor/package-lock.json": JSON.stringify(lock),
  };
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  return folder;
}

test("doctor finds a channel without its packages, one command installs them and says what the account lacks, and doctor is content", async () => {
  const doctor = ["doctor", "--json", "--only", "plugins/packages"];
  // Packages for MCP servers and for PDF files, which a gateway can do without.
  const optional = ["mcp-client", "openai-http"].map((id) => ({ id: "plugins/packages", severity: "info", path: `plugins.entries.${id}` }));
  expect(JSON.parse((await svcCommand(home, doctor)).stdout)).toMatchObject({
    ok: false,
    findings: [{ id: "plugins/packages", severity: "error", path: "channels.demo", fix: "svc channels add demo" }, ...optional],
  });
  const added = await svcCommand(home, ["channels", "add", "demo"]);
  expect(added).toMatchObject({ code: 0, stderr: expect.stringContaining("packages of demo: 1 of 1") });
  expect(added.stdout).toContain("Installed dep 1.0.0 for demo.");
  expect(added.stdout).toContain("Not set yet: channels.demo.nick");
  expect(added.stdout).toContain("Credential not set: channels.demo.token (or DEMO_TOKEN)");
  expect(JSON.parse((await svcCommand(home, doctor)).stdout)).toMatchObject({ ok: true, findings: optional });
  expect(await readdir(join(home.env.HOME as string, "demo/vendor"))).toEqual(["package-lock.json", "package.json"]);

  const again = await json(home, ["plugins", "add-packages", "demo"], {}, command);
  expect(again).toMatchObject({ code: 0, value: { ok: true, plugin: "demo", state: "present" } });
});

test("a bundled plugin brings its lock along, and its folder stays as it was", async () => {
  const vendor = join(product.packageRoot, "plugins/local-runtime/vendor");
  const before = (await readdir(vendor)).sort();
  expect(before).toEqual(expect.arrayContaining(["empty", "package-lock.json", "package.json"]));
  const status = await svcCommand(home, ["models", "runtime", "status", "--json"]);
  const packages = [{ name: "node-llama-cpp", version: "3.21.1", installed: false }];
  expect({ ...status, stdout: JSON.parse(status.stdout) }).toMatchObject({
    code: 1,
    stdout: { ok: false, plugin: "local-runtime", packages },
  });
  const failed = await svcCommand(home, ["models", "runtime", "install"]);
  expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining("run again: svc plugins add-packages local-runtime") });
  expect(failed.stderr).toContain("packages of local-runtime: 0 of ");
  // The registry of this test has none of them; it was asked by the lock.
  expect(registry.requests.some((path) => path.startsWith("/node-llama-cpp"))).toBe(true);
  expect((await readdir(vendor)).sort()).toEqual(before);
});

test("what is not there is refused with what is", async () => {
  const nowhere = await command(home, ["channels", "add", "nowhere"]);
  expect(nowhere).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/no plugin has a channel "nowhere"; expected one of .*demo.*irc/),
  });
  expect(await command(home, ["plugins", "add-packages", "nowhere"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('no plugin "nowhere"'),
  });
});

test("a channel without packages only says what its account lacks, by the channel's own word", async () => {
  expect(await commandJson(home, ["channels", "add", "irc"])).toMatchObject({
    code: 0,
    value: { ok: true, state: "none", isConfigured: false, missing: ["host", "nick"] },
  });
});

test("a channel is taken out of the config where no gateway runs, and nothing else is", async () => {
  expect(await commandJson(home, ["channels", "remove", "demo"])).toMatchObject({ code: 0, value: { ok: true, channel: "demo" } });
  const written = JSON.parse(await readFile(join(home.stateDir, "svc.json"), "utf8"));
  expect(written).toEqual({ gateway: { mode: "local" }, plugins: expect.any(Object), channels: {} });
  expect(await command(home, ["channels", "remove", "demo"])).toMatchObject({ code: 2, stderr: expect.stringContaining("it has none") });
});
