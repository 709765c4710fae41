import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestGateway, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, expect, test } from "vitest";

interface Answer {
  plugin: { id: string; version: string };
  permissions: Array<{ permission: string; granted: boolean; about: string }>;
  replaced?: string;
}
interface Row {
  id: string;
  version: string;
  origin: string;
  installed: boolean;
  runtime: { state: string };
}

let base: string;
let gateway: TestGateway;
beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), "svc-install-rpc-"));
  gateway = await createTestGateway({ plugins: ["store", "plugin-manager"] });
});
afterAll(async () => {
  await gateway?.close();
  await rm(base, { recursive: true, force: true });
});

/** Folder of a plugin with a method; its code leaves a trace wherever it runs. */
async function source(id: string, version: string, manifest: object = {}): Promise<string> {
  const folder = join(base, `${id}-${version}`);
  await mkdir(folder);
  const about = { id, version, svc: { api: "^1.0.0" }, permissions: ["net", "exec"], contributes: { rpc: [`${id}.version`] } };
  await writeFile(join(folder, "svc.plugin.json"), JSON.stringify({ ...about, ...manifest }));
  await writeFile(
    join(folder, "index.ts"),
    `import { writeFileSync } from "node:fs";
    import { definePlugin, z } from "svc/sdk";
    writeFileSync(${JSON.stringify(trace(id))}, "");
    export default definePlugin({ id: "${id}", version: "${version}", svc: { api: "^1.0.0" }, setup(ctx) {
      ctx.registerRpc({ method: "${id}.version", scope: "read", params: z.strictObject({}), handler: () => ({ version: "${version}" }) });
    } });`,
  );
  return folder;
}

const trace = (id: string) => join(base, `${id}-ran`);
const hasRun = (id: string) =>
  stat(trace(id)).then(
    () => true,
    () => false,
  );
const install = (folder: string, more: object = {}) =>
  gateway.rpc<Answer & Record<string, unknown>>("plugins.install", { source: folder, ...more });
const row = async (id: string) =>
  (await gateway.rpc<{ plugins: Row[] } & Record<string, unknown>>("plugins.list")).plugins.find((one) => one.id === id);
const entry = async (id: string) => {
  const config = JSON.parse(await readFile(join(gateway.stateDir, "svc.json"), "utf8")) as {
    plugins?: { entries?: Record<string, unknown> };
  };
  return config.plugins?.entries?.[id];
};
const write = async (id: string, change: object) => {
  const { hash } = await gateway.rpc<{ hash: string } & Record<string, unknown>>("config.get");
  await gateway.rpc("config.patch", { raw: JSON.stringify({ plugins: { entries: { [id]: change } } }), baseHash: hash });
};

test("a plugin arrives switched off and without a permission, none of its code runs, and it works once a person has confirmed it", async () => {
  const answer = await install(await source("arrives", "1.0.0"));

  expect(answer).toMatchObject({ plugin: { id: "arrives", version: "1.0.0" }, source: { kind: "folder" } });
  expect(answer.permissions).toEqual([
    { permission: "net", granted: false, about: "opens connections" },
    { permission: "exec", granted: false, about: "starts programs" },
  ]);
  expect(await row("arrives")).toMatchObject({ installed: true, version: "1.0.0", runtime: { state: "disabled" } });
  expect(await entry("arrives")).toEqual({ enabled: false });
  expect(await hasRun("arrives")).toBe(false);

  await write("arrives", { enabled: true, grants: ["net"] });
  expect(await gateway.rpc("arrives.version")).toEqual({ version: "1.0.0" });
});

test("another version of a running plugin stands still until it is confirmed, and keeps the grants of that package only", async () => {
  await install(await source("again", "1.0.0"));
  await write("again", { enabled: true, grants: ["net"] });
  expect(await gateway.rpc("again.version")).toEqual({ version: "1.0.0" });

  const answer = await install(await source("again", "1.1.0"));
  expect(answer).toMatchObject({ replaced: "1.0.0", permissions: [{ permission: "net", granted: true }, { granted: false }] });
  await expect(gateway.rpc("again.version")).rejects.toThrow("unknown method");
  await gateway.rpc("plugins.setEnabled", { pluginId: "again", enabled: true });
  expect(await gateway.rpc("again.version")).toEqual({ version: "1.1.0" });

  const elsewhere = join(base, "somebody-elses");
  await mkdir(elsewhere);
  for (const name of ["svc.plugin.json", "index.ts"])
    await writeFile(join(elsewhere, name), await readFile(join(base, "again-1.1.0", name)));
  expect((await install(elsewhere)).permissions.map(({ granted }) => granted)).toEqual([false, false]);
  expect(await entry("again")).toEqual({ enabled: false, grants: [] });
});

test("progress is told to the connection that asked, and to no other", async () => {
  const [asking, other] = [await gateway.ws(), await gateway.ws()];
  const folder = await source("told", "1.0.0");
  await asking.request("plugins.install", { source: folder });
  await other.request("health", {});

  expect(asking.events.filter(({ event }) => event === "plugins.progress").map(({ payload }) => payload)).toContainEqual({
    source: folder,
    text: `fetching ${folder}`,
  });
  expect(other.events.some(({ event }) => event === "plugins.progress")).toBe(false);
});

test("a request that is repeated with its key installs once", async () => {
  const folder = await source("once", "1.0.0");
  const first = await install(folder, { idempotencyKey: "k1" });
  await rm(folder, { recursive: true });
  expect(await install(folder, { idempotencyKey: "k1" })).toEqual(first);
});

test.each<[string, () => Promise<string>, RegExp]>([
  ["a relative path", async () => "./plugin", /expected npm:<name>\[@<version>\], or the absolute path/],
  ["an address", async () => "https://example.org/x.tgz", /expected npm:/],
  ["a folder that is not there", async () => join(base, "nowhere"), /there is no such folder or file/],
  ["another API", () => source("future", "1.0.0", { svc: { api: "^9.0.0" } }), /api-mismatch/],
  ["a bundled id", () => source("store", "9.9.9"), /is part of svc/],
])("%s is refused in words, and nothing is left", async (_, make, words) => {
  const before = JSON.stringify([await gateway.rpc("plugins.list"), await gateway.rpc("config.get")]);
  await expect(install(await make())).rejects.toThrow(words);
  expect(JSON.stringify([await gateway.rpc("plugins.list"), await gateway.rpc("config.get")])).toBe(before);
});

test("only administrators install", async () => {
  const socket = await gateway.ws({ scopes: ["operator.read", "operator.write"] });
  for (const [method, params] of [
    ["plugins.install", { source: base }],
    ["plugins.uninstall", { pluginId: "arrives" }],
  ] as const)
    await expect(socket.request(method, params)).rejects.toMatchObject({ code: "FORBIDDEN" });
});

test("a plugin that runs is removed with its entry, or leaves it switched off", async () => {
  for (const [id, keepConfig, left] of [
    ["leaves", false, undefined],
    ["stays", true, { enabled: false, grants: ["net"] }],
  ] as const) {
    await install(await source(id, "1.0.0"));
    await write(id, { enabled: true, grants: ["net"] });
    expect(await gateway.rpc("plugins.uninstall", { pluginId: id, keepConfig })).toEqual({ ok: true, plugin: { id, version: "1.0.0" } });
    await expect(gateway.rpc(`${id}.version`)).rejects.toThrow("unknown method");
    expect([await row(id), await entry(id)]).toEqual([undefined, left]);
  }
  await expect(gateway.rpc("plugins.uninstall", { pluginId: "store" })).rejects.toThrow("was not installed by svc plugins install");
});
