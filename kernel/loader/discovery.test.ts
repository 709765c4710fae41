import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { rootSchema, type SvcConfigInput } from "../../sdk/config/root.ts";
import { bundledRoot, discoverPlugins } from "./discovery.ts";

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "svc-discovery-"));
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function plugin(folder: string, manifest: Record<string, unknown> | string = {}, entry: string | null = "index.ts"): Promise<string> {
  const path = join(root, folder);
  await mkdir(path, { recursive: true });
  const text =
    typeof manifest === "string"
      ? manifest
      : JSON.stringify({ id: folder.split("/").at(-1), version: "1.0.0", svc: { api: "^1.0.0" }, ...manifest });
  await writeFile(join(path, "svc.plugin.json"), text);
  if (entry) await writeFile(join(path, entry), "export default {};");
  return path;
}

async function discover(plugins: SvcConfigInput["plugins"] = {}) {
  const found = await discoverPlugins({
    config: rootSchema.parse({ plugins }),
    stateDir: join(root, "state"),
    configDir: root,
    workspace: join(root, "workspace"),
  });
  return found.filter((c) => !c.root.startsWith(bundledRoot()) || c.problem?.code === "duplicate-id");
}
const one = async (plugins?: SvcConfigInput["plugins"]) => (await discover(plugins))[0];

describe("a plugin is found", () => {
  test("in a folder of the config, relative to the config file, and is on", async () => {
    await plugin("mine");
    expect(await one({ load: { paths: ["mine"] } })).toMatchObject({ id: "mine", origin: "config", entry: join(root, "mine", "index.ts") });
    expect((await one({ load: { paths: [join(root, "mine")] } }))?.problem).toBeUndefined();
  });

  test("as a single file of the config", async () => {
    await writeFile(join(root, "tiny.ts"), "export default {};");
    expect(await one({ load: { paths: ["tiny.ts"] } })).toMatchObject({ id: "tiny", entry: join(root, "tiny.ts"), manifest: undefined });
  });

  test.each([
    ["the workspace", "workspace/.svc/plugins/drop", "workspace"],
    ["the state directory", "state/plugins/drop", "global"],
  ])("in %s, and is off until the operator turns it on", async (_, folder, origin) => {
    await plugin(folder);
    expect(await one()).toMatchObject({ id: "drop", origin, problem: { state: "disabled", code: "not-enabled" } });
    expect((await one({ entries: { drop: { enabled: true } } }))?.problem).toBeUndefined();
  });

  test("in the state directory only one level deep, and loose files there count for nothing", async () => {
    await plugin("state/plugins/a/nested");
    await writeFile(join(root, "state/plugins/loose.ts"), "export default {};");
    expect(await discover()).toEqual([]);
  });
});

describe("what does not load says why:", () => {
  test.each<[string, () => Promise<unknown>, SvcConfigInput["plugins"], string, string | RegExp]>([
    ["no manifest", () => mkdir(join(root, "pp")), {}, "manifest-invalid", /^no svc\.plugin\.json in /],
    ["a manifest that is no JSON", () => plugin("pp", "{"), {}, "manifest-invalid", /^svc\.plugin\.json: /],
    ["a manifest with a wrong field", () => plugin("pp", { id: "Bad" }), {}, "manifest-invalid", /at id: /],
    ["another API", () => plugin("pp", { svc: { api: "^2.0.0" } }), {}, "api-mismatch", "needs plugin API ^2.0.0, this gateway has 1.0.0"],
    ["no entry", () => plugin("pp", {}, null), {}, "path-escape", "its entry is missing or outside its folder"],
    ["an entry outside", () => plugin("pp", { entry: "../elsewhere.ts" }), {}, "path-escape", "its entry is missing or outside its folder"],
    [
      "plugins.deny, whatever else is said",
      () => plugin("pp"),
      { deny: ["pp"], allow: ["pp"], entries: { pp: { enabled: true } } },
      "denied",
      "listed in plugins.deny",
    ],
    ["plugins.allow without it", () => plugin("pp"), { allow: ["q"] }, "not-allowed", "not listed in plugins.allow"],
    ["plugins.enabled false", () => plugin("pp"), { enabled: false }, "not-enabled", "plugins.enabled is false"],
    ["its own entry", () => plugin("pp"), { entries: { pp: { enabled: false } } }, "not-enabled", "plugins.entries.pp.enabled is not true"],
    ["a slot of another", () => plugin("pp", { slot: "memory" }), {}, "slot-taken", 'plugins.slots.memory names "memory-core"'],
  ])("%s", async (_, make, plugins, code, reason) => {
    await make();
    const found = await one({ ...plugins, load: { paths: ["pp"] } });
    expect(found?.problem?.code).toBe(code);
    expect(found?.problem?.reason).toMatch(reason);
  });

  test("an entry that is a link to the outside", async () => {
    await plugin("pp", {}, null);
    await writeFile(join(root, "outside.ts"), "export default {};");
    await symlink(join(root, "outside.ts"), join(root, "pp", "index.ts"));
    expect((await one({ load: { paths: ["pp"] } }))?.problem?.code).toBe("path-escape");
  });
});

test("a slot may be given to another plugin", async () => {
  await plugin("pp", { slot: "memory" });
  expect((await one({ load: { paths: ["pp"] }, slots: { memory: "pp" } }))?.problem).toBeUndefined();
});

describe("of two plugins with one id", () => {
  test("the one named by the config wins, and the other says so", async () => {
    await plugin("mine/drop");
    await plugin("state/plugins/drop");
    const found = await discover({ load: { paths: ["mine/drop"] } });
    expect(found.map((c) => [c.origin, c.problem?.code, c.problem?.reason])).toEqual([
      ["config", undefined, undefined],
      ["global", "duplicate-id", "the config plugin of this id wins"],
    ]);
  });

  test("a folder dropped into the workspace never shadows a bundled plugin", async () => {
    await plugin("workspace/.svc/plugins/store");
    const found = await discover({ entries: { store: { enabled: true } } });
    expect(found).toMatchObject([
      { id: "store", origin: "workspace", problem: { code: "duplicate-id", reason: "the bundled plugin of this id wins" } },
    ]);
  });
});

test("the entry may be JavaScript, and TypeScript beside it wins", async () => {
  await plugin("pp", {}, "index.js");
  expect((await one({ load: { paths: ["pp"] } }))?.entry).toBe(join(root, "pp", "index.js"));
  await plugin("pp", {}, "index.ts");
  expect((await one({ load: { paths: ["pp"] } }))?.entry).toBe(join(root, "pp", "index.ts"));
});
