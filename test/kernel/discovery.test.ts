import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestGateway, type TestGateway } from "svc/sdk/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { writeInstallRecord } from "../../kernel/loader/install-record.ts";
import { treeIntegrity } from "../../kernel/loader/tree-integrity.ts";
import { writePlugin } from "./_plugins.ts";

let root: string;
let gateway: TestGateway | undefined;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "svc-roots-"));
});
afterEach(async () => {
  await gateway?.close();
  gateway = undefined;
  await rm(root, { recursive: true, force: true });
});

interface Row {
  id: string;
  origin: string;
  runtime: { state: string; code?: string; reason?: string; hint?: string };
}

/** A gateway with no bundled plugin, and a state directory that may hold something already. */
async function start(options: Parameters<typeof createTestGateway>[0] = {}): Promise<TestGateway> {
  gateway = await createTestGateway({ plugins: [], stateDir: join(root, "state"), ...options });
  return gateway;
}
async function rows(id: string): Promise<Row[]> {
  const { plugins } = (await gateway?.rpc<{ plugins: Row[] }>("plugins.list")) ?? { plugins: [] };
  return plugins.filter((p) => p.id === id);
}
const warnings = () => gateway?.logs.filter((r) => r.level === "warn").map((r) => r.message) ?? [];

/** Throws as soon as anybody runs it. */
const hostile = { top: 'throw new Error("it was run");' };

describe("what is found on disk and nobody asked for is listed and not run", () => {
  test.each([
    ["workspace", "state/workspace/.svc/plugins", "workspace"],
    ["state directory", "state/plugins", "global"],
  ])("in the %s", async (_, folder, origin) => {
    await writePlugin(join(root, folder), "drop", hostile);
    await start();
    expect(await rows("drop")).toMatchObject([{ origin, runtime: { state: "disabled", code: "not-enabled" } }]);
  });
});

test("a plugin that a gate holds back says so in the list, with what to do, and in the log, and is not run", async () => {
  const folder = await writePlugin(root, "open", hostile);
  await chmod(folder, 0o777);
  await start({ plugins: [folder] });

  const [row] = await rows("open");
  expect(row?.runtime).toMatchObject({ state: "blocked", code: "world-writable", hint: `chmod o-w ${folder}` });
  expect(warnings()).toEqual([expect.stringContaining('plugin "open" is blocked: world-writable: ')]);
});

test("a plugin that imports a file of somebody else is not run", async () => {
  await writeFile(join(root, "elsewhere.ts"), "export const x = 1;");
  const folder = await writePlugin(root, "reaches", { top: 'import { x } from "../elsewhere.ts"; throw new Error(String(x));' });
  await start({ plugins: [folder] });
  expect((await rows("reaches"))[0]?.runtime).toMatchObject({ state: "blocked", code: "path-escape" });
});

describe("a bundled plugin keeps its place", () => {
  test("against one of its id in the workspace, which is told of", async () => {
    await writePlugin(join(root, "state/workspace/.svc/plugins"), "store", hostile);
    await start({ plugins: ["store"] });
    expect(await rows("store")).toMatchObject([
      { origin: "bundled", runtime: { state: "active" } },
      { origin: "workspace", runtime: { state: "blocked", code: "duplicate-id" } },
    ]);
    expect(warnings()).toContainEqual(
      expect.stringContaining('plugin "store" is blocked: duplicate-id: the bundled plugin of this id wins'),
    );
  });

  test("against a folder of its name whose manifest cannot be read", async () => {
    await mkdir(join(root, "state/plugins/store"), { recursive: true });
    await writeFile(join(root, "state/plugins/store/svc.plugin.json"), "{");
    await start({ plugins: ["store"] });
    expect((await rows("store")).map((r) => [r.origin, r.runtime.state])).toEqual([
      ["bundled", "active"],
      ["global", "blocked"],
    ]);
    expect(gateway?.service("store@2").status().ok).toBe(true);
  });

  test("unless the operator names another one, and then both say so", async () => {
    const folder = await writePlugin(root, "operator", {});
    await start({ plugins: ["operator", folder] });
    expect(await rows("operator")).toMatchObject([
      { origin: "config", runtime: { state: "active" } },
      { origin: "bundled", runtime: { state: "blocked", code: "duplicate-id", reason: expect.stringContaining(folder) } },
    ]);
  });
});

test("a deprecated plugin runs, and the log says once what to use instead, however often it is reloaded", async () => {
  const folder = await writePlugin(root, "old", { manifest: { deprecated: "use the plugin new" } });
  await start({ plugins: [folder] });
  await gateway?.rpc("plugins.reload", { plugins: [{ pluginId: "old" }] });
  expect((await rows("old"))[0]?.runtime.state).toBe("active");
  expect(warnings().filter((w) => w.includes("deprecated"))).toEqual(['plugin "old" is deprecated: use the plugin new']);
});

test("an installed plugin whose files change while it runs is not replaced by them: the old code serves on", async () => {
  const folder = await writePlugin(join(root, "state/plugins"), "kept", {
    setup: 'ctx.registerRpc({ method: "kept.say", scope: "read", params: z.strictObject({}), handler: () => ({ said: "old" }) });',
  });
  const source = { kind: "folder" as const, spec: folder };
  const integrity = await treeIntegrity(folder);
  await writeInstallRecord(join(root, "state"), "kept", {
    version: "1.0.0",
    source,
    integrity,
    installedAt: new Date(0).toISOString(),
    cli: [],
  });
  await start();
  const index = join(folder, "index.ts");
  await writeFile(index, (await readFile(index, "utf8")).replace("old", "new"));

  const { results } = (await gateway?.rpc<{ results: unknown[] }>("plugins.reload", { plugins: [{ pluginId: "kept" }] })) ?? {
    results: [],
  };
  expect(results).toMatchObject([{ id: "kept", status: "failed", error: expect.stringContaining("not those that were installed") }]);
  expect(await gateway?.rpc("kept.say")).toEqual({ said: "old" });

  await writeInstallRecord(join(root, "state"), "kept", {
    ...{ version: "1.0.0", source, integrity: await treeIntegrity(folder), installedAt: new Date(0).toISOString(), cli: [] },
  });
  await gateway?.rpc("plugins.reload", { plugins: [{ pluginId: "kept" }] });
  expect(await gateway?.rpc("kept.say")).toEqual({ said: "new" });
});

describe("a plugin of one file", () => {
  const source = (id: string) =>
    `import { definePlugin } from "svc/sdk";\nexport default definePlugin({ id: ${id}, version: "3.2.1", svc: { api: "^1.0.0" }, setup() {} });`;

  test("goes by the id in its code, whatever its file is called", async () => {
    await writeFile(join(root, "some-file.ts"), source('"wee"'));
    await start({ config: { plugins: { load: { paths: [join(root, "some-file.ts")] }, entries: { wee: { config: {} } } } } });
    expect(await rows("wee")).toMatchObject([{ version: "3.2.1", runtime: { state: "active" } }]);
  });

  test("whose id is not to be seen in its text is refused, because nothing of it could be configured", async () => {
    await writeFile(join(root, "some-file.ts"), source('["w", "ee"].join("")'));
    await start({ config: { plugins: { load: { paths: [join(root, "some-file.ts")] } } } });
    expect((await rows("some-file"))[0]?.runtime).toMatchObject({ state: "failed", code: "manifest-invalid" });
  });
});

test("a slot belongs to the plugin the config names; who else wants it is off and says why", async () => {
  const [mine, other] = [
    await writePlugin(root, "mine", { manifest: { slot: "memory" } }),
    await writePlugin(root, "other", { manifest: { slot: "memory" } }),
  ];
  await start({ plugins: [mine, other], config: { plugins: { slots: { memory: "mine" } } } });
  expect((await rows("mine"))[0]?.runtime.state).toBe("active");
  expect((await rows("other"))[0]?.runtime).toMatchObject({
    state: "disabled",
    code: "slot-taken",
    hint: expect.stringContaining("plugins.slots.memory"),
  });
});
