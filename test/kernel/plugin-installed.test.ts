import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PluginRecord } from "svc/sdk";
import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { installedPlugins } from "../../kernel/cli/installed-plugins.ts";
import { inspectPluginFolder } from "../../kernel/loader/discovery.ts";
import { withFileLock } from "../../kernel/process/file-lock.ts";
import { installPlugin } from "../../plugins/plugin-manager/install/install.ts";
import { uninstallPlugin } from "../../plugins/plugin-manager/install/uninstall.ts";
import { method } from "./_plugin-gateway.ts";
import { writePlugin } from "./_plugins.ts";

let base: string;
let stateDir: string;
let gateway: TestGateway | undefined;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "svc-installed-"));
  stateDir = join(base, "state");
  await mkdir(stateDir, { mode: 0o700 });
});
afterEach(async () => {
  await gateway?.close();
  gateway = undefined;
  await rm(base, { recursive: true, force: true });
});

type Written = Parameters<typeof writePlugin>[2];
/** Writes a plugin elsewhere and installs it by the command's own code. */
async function install(id: string, plugin: Written, files: Record<string, string> = {}) {
  const folder = await writePlugin(base, id, plugin);
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const host = { inspect: inspectPluginFolder, isBundled: async () => false, progress: () => undefined };
  const own = {
    ...host,
    fileLock: withFileLock,
    installed: installedPlugins(stateDir),
    cwd: base,
    env: {},
    signal: new AbortController().signal,
  };
  return installPlugin({ spec: folder, replaceBundled: false }, own, async () => undefined);
}
async function start(id: string, entry: object = {}) {
  gateway = await createTestGateway({ stateDir, plugins: [], config: { plugins: { entries: { [id]: { enabled: true, ...entry } } } } });
  return gateway;
}
const record = (id: string) => gateway?.gateway.plugins().find((p) => p.id === id) as PluginRecord;
const ask = async (name: string) => (await gateway?.rpc<{ value: unknown }>(name))?.value;

const lazy = (word: string): Written => ({
  manifest: { contributes: { rpc: ["waits.word"] }, activation: ["rpc:waits.*"] },
  setup: method("waits.word", `"${word}"`),
});

test("a plugin that waits for its first use and whose files were changed meanwhile is blocked then, and none of its code is run", async () => {
  await install("waits", lazy("clean"));
  await start("waits");
  expect(record("waits").state).toBe("ready");

  await writePlugin(join(stateDir, "plugins"), "waits", lazy("tampered"));

  await expect(ask("waits.word")).rejects.toThrow("unknown method");
  expect(record("waits")).toMatchObject({ state: "blocked", code: "integrity", hint: expect.stringContaining("--confirm waits") });

  await install("waits", lazy("mended"));
  await gateway?.rpc("plugins.reload", { plugins: [{ pluginId: "waits" }] });
  expect(await ask("waits.word")).toBe("mended");
});

test("a plugin that asked to be tried later and whose files were changed meanwhile is blocked at that try", async () => {
  const top = `import { RetryLater } from "svc/sdk";`;
  await install("shy", { top, setup: `return { start() { throw new RetryLater("not yet"); } };` });
  gateway = await createTestGateway({ stateDir, plugins: [], retryMs: 300, config: { plugins: { entries: { shy: { enabled: true } } } } });
  await eventually(() => record("shy").state === "retrying");

  await writePlugin(join(stateDir, "plugins"), "shy", { setup: method("shy.word", `"tampered"`) });

  await eventually(() => record("shy").state === "blocked");
  expect(record("shy").code).toBe("integrity");
});

const two = (word: string): [Written, Record<string, string>] => [
  { setup: method("pair.word", `"${word}+" + (await import("./late.ts")).late`) },
  { "late.ts": `export const late = ${JSON.stringify(word)};` },
];

test("a running plugin keeps its own files while another version is installed over it, and when it is removed", async () => {
  await install("pair", ...two("one"));
  await start("pair");

  await install("pair", ...two("two"));
  expect(await ask("pair.word")).toBe("one+one");

  await gateway?.rpc("plugins.reload", { plugins: [{ pluginId: "pair" }] });
  await uninstallPlugin({ installed: installedPlugins(stateDir), fileLock: withFileLock }, "pair");
  expect(await ask("pair.word")).toBe("two+two");
});

test("copies of installed plugins go with the instances that ran from them", async () => {
  const copies = () => readdir(join(stateDir, "cache", "gen", "gone")).catch(() => []);
  const plugin = (word: string): Written => ({ setup: method("gone.word", `"${word}"`) });
  await install("gone", plugin("one"));
  await start("gone");
  await install("gone", plugin("two"));
  await gateway?.rpc("plugins.reload", { plugins: [{ pluginId: "gone" }] });
  await eventually(async () => (await copies()).length === 1);

  await uninstallPlugin({ installed: installedPlugins(stateDir), fileLock: withFileLock }, "gone");
  await gateway?.rpc("plugins.reload", { plugins: [{ pluginId: "gone" }] });

  await eventually(async () => (await copies()).length === 0);
  expect(record("gone")).toBeUndefined();
});

test("a guest that died is not started again from files that are not those that were installed", async () => {
  const tool = `ctx.registerTool({ name: "die", description: "", input: z.object({}), run: () => process.exit(1) });`;
  const user = await writePlugin(base, "user", {
    setup: method("user.go", `await ctx.contributions("tool").get("die").value.run({}, {})`),
  });
  await install("apart", { setup: tool, manifest: { contributes: { tools: ["die"] } } });
  const entries = { apart: { enabled: true, isolation: "worker" as const } };
  gateway = await createTestGateway({ stateDir, plugins: [user], config: { plugins: { entries } }, stragglerMs: 60_000 });
  expect(record("apart")).toMatchObject({ state: "active", isolation: "worker" });
  await expect(ask("user.go")).rejects.not.toThrow("those that were installed");

  const [copy = ""] = await readdir(join(stateDir, "cache", "gen", "apart"));
  await writeFile(join(stateDir, "cache", "gen", "apart", copy, "index.ts"), "tampered");

  await expect(ask("user.go")).rejects.toThrow("its files are not those that were installed");
});
