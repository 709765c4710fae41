import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readCommands } from "./command-table.ts";

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "svc-commands-"));
  await manifest("bundled/core", "core", ["status", "plugins list"]);
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function put(path: string, value: unknown): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), typeof value === "string" ? value : JSON.stringify(value));
}
const cli = (names: readonly string[]) => names.map((name) => ({ name, description: `About ${name}`, module: "cli/x.ts" }));
const manifest = (folder: string, id: string, names: readonly string[]) => put(`${folder}/svc.plugin.json`, { id, cli: cli(names) });
const installed = (plugins: Record<string, readonly string[]>) =>
  put("state/plugins/index.json", {
    version: 1,
    plugins: Object.fromEntries(Object.entries(plugins).map(([id, names]) => [id, { cli: cli(names) }])),
  });

const read = () =>
  readCommands({
    ...{ pluginsRoot: join(root, "bundled"), stateDir: join(root, "state"), configPath: join(root, "svc.json") },
    readJson: async (path) => JSON.parse(await readFile(path, "utf8")) as unknown,
  });
/** Commands of plugins that are not part of the product: name → plugin. */
const others = async () => Object.fromEntries((await read()).filter((c) => c.plugin).map((c) => [c.words.join(" "), c.plugin]));

test("the gateway's own command and those of bundled plugins are there without any file of the operator", async () => {
  expect((await read()).map((c) => [c.words.join(" "), c.plugin])).toEqual([
    ["gateway", undefined],
    ["gateway run", undefined],
    ["status", undefined],
    ["plugins list", undefined],
  ]);
});

describe("commands of others are there for", () => {
  test("an installed plugin, by its record", async () => {
    await installed({ demo: ["demo say"] });
    expect((await read()).at(-1)).toEqual({
      ...{ words: ["demo", "say"], description: "About demo say", plugin: "demo" },
      module: join(root, "state/plugins/demo/cli/x.ts"),
    });
  });

  test("a folder that the config names, relative to the config", async () => {
    await manifest("mine", "mine", ["mine do"]);
    await put("svc.json", { plugins: { load: { paths: ["mine"] } } });
    expect(await others()).toEqual({ "mine do": "mine" });
  });

  test("a plugin that the config switches on in the state directory or the workspace", async () => {
    await manifest("state/plugins/byhand", "byhand", ["byhand do"]);
    await manifest("work/.svc/plugins/local", "local", ["local do"]);
    await put("svc.json", {
      agents: { defaults: { workspace: join(root, "work") } },
      plugins: { entries: { byhand: { enabled: true }, local: { enabled: true }, "../x": { enabled: true } } },
    });
    expect(await others()).toEqual({ "byhand do": "byhand", "local do": "local" });
  });
});

describe("none are there for", () => {
  test.each([
    ["a plugin that is switched off", { entries: { demo: { enabled: false } } }],
    ["a plugin that is denied", { deny: ["demo"] }],
    ["a plugin that is not among those allowed", { allow: ["other"] }],
    ["anybody when plugins are off", { enabled: false }],
  ])("%s", async (_, plugins) => {
    await installed({ demo: ["demo say"] });
    await put("svc.json", { plugins });
    expect(await others()).toEqual({});
  });

  test("a plugin in the workspace that nobody switched on", async () => {
    await manifest("state/workspace/.svc/plugins/local", "local", ["local do"]);
    expect(await others()).toEqual({});
  });
});

test("a name that is taken stays with its first owner", async () => {
  await installed({ demo: ["status", "gateway", "demo say"], late: ["demo say"] });
  expect(await others()).toEqual({ "demo say": "demo" });
});

test("files that say nonsense hide only their own commands", async () => {
  await put("state/plugins/index.json", {
    plugins: { demo: null, odd: { cli: "x" }, other: { cli: [{ name: 1 }, null] }, good: { cli: cli(["good do"]) } },
  });
  await put("svc.json", { plugins: { load: { paths: [1, "nowhere"] }, entries: [], deny: "x" } });
  expect(await others()).toEqual({ "good do": "good" });
  await put("svc.json", "{ nonsense");
  expect(await others()).toEqual({ "good do": "good" });
});
