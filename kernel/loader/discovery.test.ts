import { chmod, link, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { SvcConfigInput } from "../../sdk/config/root.ts";
import { rootSchema } from "../config/root-schema.ts";
import { bundledRoot, discoverOne, discoverPlugins, inspectPluginFolder } from "./discovery.ts";
import { writeInstallRecord } from "./install-record.ts";
import { treeIntegrity } from "./tree-integrity.ts";

let root: string;
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), "svc-discovery-")));
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

/** Puts a plugin into the state directory as the install command does. */
async function installed(id: string): Promise<string> {
  const path = await plugin(`state/plugins/${id}`);
  const source = { kind: "folder" as const, spec: "/from/there" };
  const record = { version: "1.0.0", source, integrity: await treeIntegrity(path), installedAt: "2026-01-02T03:04:05.000Z", cli: [] };
  await writeInstallRecord(join(root, "state"), id, record);
  return path;
}

const request = (plugins: SvcConfigInput["plugins"] = {}) => ({
  config: rootSchema.parse({ plugins }),
  stateDir: join(root, "state"),
  configDir: root,
  workspace: join(root, "workspace"),
});

/** Everything but the bundled plugins that nobody disputes. */
async function discover(plugins?: SvcConfigInput["plugins"]) {
  const found = await discoverPlugins(request(plugins));
  return found.filter((c) => !c.root.startsWith(bundledRoot()) || c.problem?.code === "duplicate-id");
}
const one = async (plugins?: SvcConfigInput["plugins"]) => (await discover(plugins))[0];

test("every bundled plugin has a good manifest and an entry", async () => {
  const bundled = (await discoverPlugins(request())).filter((c) => c.origin === "bundled");
  expect(bundled.length).toBeGreaterThan(8);
  expect(bundled.filter((c) => c.problem && c.problem.code !== "not-enabled").map((c) => [c.id, c.problem?.reason])).toEqual([]);
});

test("folders of bundled plugins are read once per process where that is asked for; the others, and what the config says, each time", async () => {
  const told = async (plugins: SvcConfigInput["plugins"], options?: { reuse: boolean }) => {
    const found = await discoverPlugins({ ...request(plugins), ...options });
    return found.find(({ id, origin }) => id === "store" && origin === "bundled");
  };
  const first = await told({}, { reuse: true });
  expect((await told({}, { reuse: true }))?.manifest).toBe(first?.manifest);
  expect((await told({}))?.manifest).not.toBe(first?.manifest);
  const off = { entries: { store: { enabled: false } } };
  expect((await told(off, { reuse: true }))?.problem).toEqual((await told(off))?.problem);
  expect((await told({}, { reuse: true }))?.problem).toBeUndefined();
});

describe("a plugin is found", () => {
  test("in a folder of the config, relative to the config file, and is on", async () => {
    await plugin("mine");
    expect(await one({ load: { paths: ["mine"] } })).toMatchObject({ id: "mine", origin: "config", entry: join(root, "mine", "index.ts") });
    expect((await one({ load: { paths: [join(root, "mine")] } }))?.problem).toBeUndefined();
  });

  test("as a single file of the config, named by what it gives to definePlugin", async () => {
    await writeFile(join(root, "tiny.ts"), 'export default definePlugin({ id: "wee", version: "2.1.0", setup() {} });');
    expect(await one({ load: { paths: ["tiny.ts"] } })).toMatchObject({
      ...{ id: "wee", version: "2.1.0", entry: join(root, "tiny.ts"), manifest: undefined, origin: "config" },
    });
  });

  test("through a link, when the operator named it", async () => {
    await plugin("elsewhere/mine");
    await symlink(join(root, "elsewhere/mine"), join(root, "linked"));
    expect(await one({ load: { paths: ["linked"] } })).toMatchObject({ id: "mine", root: join(root, "elsewhere/mine") });
  });

  test.each([
    ["the workspace", "workspace/.svc/plugins/drop", "workspace"],
    ["the state directory", "state/plugins/drop", "global"],
  ])("in %s, and is off until the operator turns it on", async (_, folder, origin) => {
    await plugin(folder);
    expect(await one()).toMatchObject({ id: "drop", origin, entry: undefined, problem: { state: "disabled", code: "not-enabled" } });
    expect((await one({ entries: { drop: { enabled: true } } }))?.problem).toBeUndefined();
  });

  test("in the state directory with an install record, and is on", async () => {
    await installed("drop");
    const found = await one();
    expect(found).toMatchObject({ id: "drop", origin: "global", installed: true });
    expect(found?.problem).toBeUndefined();
  });

  test("one level deep only; loose files there and names with a dot count for nothing", async () => {
    await plugin("state/plugins/a/nested");
    await plugin("state/plugins/.staging-1");
    await writeFile(join(root, "state/plugins/loose.ts"), "export default {};");
    expect((await discover()).map((c) => [c.id, c.problem?.code])).toEqual([["a", "manifest-invalid"]]);
  });
});

const foreignMethod = JSON.stringify({ methods: { "agents.list": { scope: "read", about: "", params: {}, result: {} } } });

describe("what does not load says why:", () => {
  test.each<[string, () => Promise<unknown>, SvcConfigInput["plugins"], string, string | RegExp]>([
    ["no manifest", () => mkdir(join(root, "pp")), {}, "manifest-invalid", /^no svc\.plugin\.json in /],
    ["a manifest that is no JSON", () => plugin("pp", "{"), {}, "manifest-invalid", /^svc\.plugin\.json: /],
    ["a manifest with a wrong field", () => plugin("pp", { id: "Bad" }), {}, "manifest-invalid", /json: id: expected 2 to 48/],
    [
      "a protocol that was not built",
      () => plugin("pp", { protocol: "protocol.ts" }),
      {},
      "manifest-invalid",
      "svc.protocol.json is missing",
    ],
    [
      "a protocol with a method of somebody else",
      async () => writeFile(join(await plugin("pp", { protocol: "protocol.ts" }), "svc.protocol.json"), foreignMethod),
      {},
      "manifest-invalid",
      "svc.protocol.json: the method agents.list is not the plugin's own; expected pp.<verb>",
    ],
    [
      "a section of the config in a plugin from elsewhere",
      () => plugin("pp", { sections: "sections.ts" }),
      {},
      "manifest-invalid",
      "svc.plugin.json: sections: only plugins that come with svc own a section; expected configSchema, for plugins.entries.pp.config",
    ],
    ["another API", () => plugin("pp", { svc: { api: "^2.0.0" } }), {}, "api-mismatch", "needs plugin API ^2.0.0, this gateway has 1.0.0"],
    ["no entry", () => plugin("pp", {}, null), {}, "path-escape", "its entry index.ts or index.js is missing or outside its folder"],
    [
      "a missing entry outside",
      () => plugin("pp", { entry: "../elsewhere.ts" }),
      {},
      "path-escape",
      "its entry ../elsewhere.ts is missing",
    ],
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
    ["a slot that stays empty", () => plugin("pp", { slot: "memory" }), { slots: { memory: "none" } }, "slot-taken", 'is "none"'],
  ])("%s", async (_, make, plugins, code, reason) => {
    await make();
    const found = await one({ ...plugins, load: { paths: ["pp"] } });
    expect(found).toMatchObject({ entry: undefined, problem: { code, hint: expect.stringMatching(/\w/) } });
    if (typeof reason === "string") expect(found?.problem?.reason).toContain(reason);
    else expect(found?.problem?.reason).toMatch(reason);
  });

  test("an entry outside of its folder", async () => {
    await plugin("pp", { entry: "../outside.ts" });
    await writeFile(join(root, "outside.ts"), "export default {};");
    expect((await one({ load: { paths: ["pp"] } }))?.problem?.code).toBe("path-escape");
  });

  test("an entry that is a link to the outside", async () => {
    await plugin("pp", {}, null);
    await writeFile(join(root, "outside.ts"), "export default {};");
    await symlink(join(root, "outside.ts"), join(root, "pp", "index.ts"));
    expect((await one({ load: { paths: ["pp"] } }))?.problem?.code).toBe("path-escape");
  });

  test("an entry with a second name", async () => {
    await plugin("pp");
    await link(join(root, "pp/index.ts"), join(root, "other-name.ts"));
    expect((await one({ load: { paths: ["pp"] } }))?.problem?.code).toBe("hardlink");
  });

  test("a file that everybody can write", async () => {
    await plugin("pp");
    await chmod(join(root, "pp/index.ts"), 0o646);
    expect(await one({ load: { paths: ["pp"] } })).toMatchObject({
      problem: { code: "world-writable", hint: `chmod o-w ${join(root, "pp/index.ts")}` },
    });
  });

  test("a single file in a folder that everybody can write", async () => {
    await mkdir(join(root, "open"));
    await writeFile(join(root, "open/tiny.ts"), "export default {};");
    await chmod(join(root, "open"), 0o777);
    expect((await one({ load: { paths: ["open/tiny.ts"] } }))?.problem?.code).toBe("world-writable");
  });

  test("a scanned folder that everybody can write", async () => {
    await plugin("workspace/.svc/plugins/drop");
    await chmod(join(root, "workspace/.svc/plugins"), 0o777);
    expect((await one({ entries: { drop: { enabled: true } } }))?.problem?.code).toBe("world-writable");
  });

  test("a link in a scanned folder", async () => {
    await plugin("elsewhere/drop");
    await mkdir(join(root, "state/plugins"), { recursive: true });
    await symlink(join(root, "elsewhere/drop"), join(root, "state/plugins/drop"));
    const found = await one({ entries: { drop: { enabled: true } } });
    expect(found).toMatchObject({ problem: { code: "path-escape", hint: expect.stringContaining("plugins.load.paths") } });
  });

  test("a manifest that is a link", async () => {
    await plugin("real");
    await mkdir(join(root, "pp"));
    await symlink(join(root, "real/svc.plugin.json"), join(root, "pp/svc.plugin.json"));
    expect((await one({ load: { paths: ["pp"] } }))?.problem).toMatchObject({ code: "manifest-invalid" });
  });

  test("an import from outside of its folder", async () => {
    await plugin("pp");
    await writeFile(join(root, "secret.ts"), "export const a = 1;");
    await writeFile(join(root, "pp/index.ts"), 'import { b } from "./b.js";\nexport default b;');
    await writeFile(join(root, "pp/b.ts"), 'export { a as b } from "../secret.ts";');
    expect((await one({ load: { paths: ["pp"] } }))?.problem).toMatchObject({
      code: "path-escape",
      reason: 'b.ts imports "../secret.ts", which is outside of its folder',
    });
  });
});

test("an installed plugin with one changed byte does not load until the operator confirms it", async () => {
  const folder = await installed("drop");
  await writeFile(join(folder, "index.ts"), "export default {}!");
  expect(await one()).toMatchObject({ entry: undefined, problem: { state: "blocked", code: "integrity" } });

  await installed("drop");
  expect((await one())?.problem).toBeUndefined();
});

test("a damaged record of what was installed trusts nobody", async () => {
  await installed("drop");
  await writeFile(join(root, "state/plugins/index.json"), "{");
  expect(await one()).toMatchObject({ id: "drop", problem: { state: "blocked", code: "integrity" } });
});

test("a slot may be given to another plugin", async () => {
  await plugin("pp", { slot: "memory" });
  expect((await one({ load: { paths: ["pp"] }, slots: { memory: "pp" } }))?.problem).toBeUndefined();
});

describe("of two plugins with one id", () => {
  test("the one named by the config wins, and the other names it", async () => {
    await plugin("mine/drop");
    await plugin("state/plugins/drop");
    const found = await discover({ load: { paths: ["mine/drop"] } });
    expect(found.map((c) => [c.origin, c.problem?.code, c.problem?.reason])).toEqual([
      ["config", undefined, undefined],
      ["global", "duplicate-id", `the config plugin of this id wins (${join(root, "mine/drop")})`],
    ]);
  });

  test("a folder dropped into the workspace never shadows a bundled plugin", async () => {
    await plugin("workspace/.svc/plugins/store");
    const found = await discover({ entries: { store: { enabled: true } } });
    expect(found).toMatchObject([
      {
        id: "store",
        origin: "workspace",
        problem: { code: "duplicate-id", reason: expect.stringContaining("the bundled plugin of this id") },
      },
    ]);
  });

  test("nor does one dropped into the state directory by hand, but an installed one does, and the bundled one says so", async () => {
    const folder = await plugin("state/plugins/store");
    expect(await discover({ entries: { store: { enabled: true } } })).toMatchObject([
      { origin: "global", problem: { code: "duplicate-id" } },
    ]);
    await rm(folder, { recursive: true });

    await installed("store");
    expect((await discover()).map((c) => [c.origin, c.problem?.reason])).toEqual([
      ["global", undefined],
      ["bundled", `the installed plugin of this id wins (${folder})`],
    ]);
  });

  test("one whose manifest cannot be read takes nobody's place", async () => {
    await plugin("mine/store", "{");
    const found = await discoverPlugins(request({ load: { paths: ["mine/store"] } }));
    expect(found.filter((c) => c.id === "store").map((c) => [c.origin, c.problem?.code])).toEqual([
      ["config", "manifest-invalid"],
      ["bundled", undefined],
    ]);
  });
});

test("one plugin is found again by its id, as it is now", async () => {
  const folder = await plugin("mine");
  const plugins = { load: { paths: ["mine"] } };
  expect(await discoverOne("mine", request(plugins))).toMatchObject({ version: "1.0.0" });

  await writeFile(join(folder, "svc.plugin.json"), '{ id: "mine", version: "1.1.0", svc: { api: "1.x" } } // changed');
  expect(await discoverOne("mine", request(plugins))).toMatchObject({ version: "1.1.0" });
  expect(await discoverOne("gone", request(plugins))).toBeUndefined();
});

test("a folder can be looked at whatever the config says", async () => {
  const folder = await plugin("pp", { slot: "memory" });
  expect(await inspectPluginFolder(folder)).toMatchObject({ id: "pp", entry: join(folder, "index.ts") });
  await chmod(folder, 0o777);
  expect(await inspectPluginFolder(folder)).toMatchObject({ id: "pp", problem: { code: "world-writable" } });
  expect(await inspectPluginFolder(join(root, "gone"))).toMatchObject({ problem: { code: "manifest-invalid" } });
});

test("the entry may be JavaScript, and TypeScript beside it wins", async () => {
  await plugin("pp", {}, "index.js");
  expect((await one({ load: { paths: ["pp"] } }))?.entry).toBe(join(root, "pp", "index.js"));
  await plugin("pp", {}, "index.ts");
  expect((await one({ load: { paths: ["pp"] } }))?.entry).toBe(join(root, "pp", "index.ts"));
});
