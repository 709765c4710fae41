import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { access, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { kinds } from "../../plugins/authoring/kinds.ts";
import { writeFileAtomic } from "../../sdk/files.ts";
import { eventually } from "../../sdk/testing/eventually.ts";
import { configured, gatewayIn, json, stopAll } from "./_cli.ts";
import { command, commandJson } from "./_command.ts";
import { linkFolder, linkPackage, type PackedProduct, packProduct, runTool } from "./_packed.ts";
import { expectTested, settingsOf, type TestedPlugins, testPlugins } from "./_plugin-tests.ts";
import { type Home, type Running, svcCommand } from "./_process.ts";

let product: PackedProduct;
let author: string;
let home: Home;
let gateway: Running;

beforeAll(async () => {
  product = await packProduct();
  author = await mkdtemp(join(tmpdir(), "svc-author-"));
  home = await configured({ ...(await product.home()), cwd: author });
  gateway = await gatewayIn(home);
});

afterAll(async () => {
  await stopAll();
  await home?.remove();
  await rm(author, { recursive: true, force: true });
});

const call = async (method: string) => (await commandJson(home, ["gateway", "call", method])).value;

async function create(id: string, kind: string): Promise<string> {
  const made = await svcCommand(home, ["plugins", "create", id, "--kind", kind]);
  expect(made).toMatchObject({ code: 0, stderr: "" });
  expect(made.stdout).toContain(`created ${id} in ${id}`);
  return join(author, id);
}

type Kind = (typeof kinds)[number];
const created = new Map<Kind, Promise<string>>();

/** The plugin `my-<kind>` as it was created. */
function myPlugin(kind: Kind): Promise<string> {
  const made = created.get(kind) ?? create(`my-${kind}`, kind);
  created.set(kind, made);
  return made;
}

/** A plugin as `create` writes it, without the start of a program: a copy of the one of its kind, under an id of its own. */
async function copyOf(kind: Kind, id: string): Promise<string> {
  const [from, to] = [await myPlugin(kind), join(author, id)];
  for (const entry of await readdir(from, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile() || path.includes("node_modules")) continue;
    await mkdir(dirname(join(to, relative(from, path))), { recursive: true });
    await writeFile(join(to, relative(from, path)), (await readFile(path, "utf8")).replaceAll(`my-${kind}`, id));
  }
  await linkFolder(to, "svc", product.packageRoot);
  return to;
}

describe("the package", () => {
  test("holds what its commands need, and no test", async () => {
    const has = (path: string) => access(join(product.packageRoot, path));

    await has("plugins/authoring/templates/common/package.json.tmpl");
    await has("examples/plugin-channel/src/channel.ts");
    await has("dist/sdk/testing/index.js");
    await expect(has("dist/sdk/testing/fakes.test.js")).rejects.toThrow("ENOENT");
    await expect(has("test")).rejects.toThrow("ENOENT");
  });

  test("has types a consumer can build on, and extend with a service", async () => {
    const folder = join(product.consumer, "types");
    await mkdir(folder, { recursive: true });
    const code = `import { definePlugin, z } from "svc/sdk";
import { createTestGateway, fakeModel, pluginContract } from "svc/sdk/testing";
import { createClient } from "svc/sdk/client";

interface Weather { now(place: string): Promise<number>; }
declare module "svc/sdk" { interface Services { "weather@1": Weather } }

export default definePlugin({
  id: "weather", version: "1.0.0", svc: { api: "^1.0.0" },
  config: z.strictObject({ place: z.string().default("Cologne") }),
  setup(ctx) {
    ctx.registerService("weather@1", { now: async (place) => place.length });
    const degrees: Promise<number> = ctx.service("weather@1").now(ctx.config.place);
    // @ts-expect-error: no such service
    ctx.service("weather@2");
    // @ts-expect-error: the config has no such key
    void [degrees, ctx.config.town];
  },
});
void [createTestGateway({ models: [fakeModel(["hello"])], config: { logging: { level: "debug" } } }), pluginContract, createClient];
`;
    await writeFile(join(folder, "plugin.ts"), code);
    const options = {
      module: "nodenext",
      target: "ES2023",
      lib: ["ES2023"],
      strict: true,
      noEmit: true,
      types: ["node"],
      skipLibCheck: false,
    };
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options }));

    expect(await runTool("typescript/bin/tsc", ["-p", "."], folder)).toEqual({ code: 0, text: "" });
  });
});

describe("svc plugins create", () => {
  // All kinds are checked and tested by one run of each tool; a guide is followed to the letter (guides.test.ts).
  let checked: Awaited<ReturnType<typeof runTool>>;
  let tested: TestedPlugins;

  beforeAll(async () => {
    for (const kind of kinds) await myPlugin(kind);
    for (const name of ["vitest", "@types/node"]) await linkPackage(author, name);
    await writeFile(join(author, "tsconfig.json"), JSON.stringify({ extends: `./my-${kinds[0]}/tsconfig.json`, include: ["my-*/src"] }));
    checked = await runTool("typescript/bin/tsc", ["--noEmit"], author);
    tested = await testPlugins(
      author,
      kinds.map((kind) => `my-${kind}`),
    );
  }, 300_000);

  test.each(kinds)("a new plugin of kind %s checks its types and keeps the contract of its kind", async (kind) => {
    const [first, own] = await Promise.all([kinds[0], kind].map((name) => settingsOf(join(author, `my-${name}`))));
    expect(own).toEqual(first);
    expect(checked).toEqual({ code: 0, text: "" });
    expectTested(tested, `my-${kind}`);
  });

  test("refuses a folder that is not empty, an odd id and an unknown kind", async () => {
    await mkdir(join(author, "full"));
    await writeFile(join(author, "full/notes.txt"), "mine");

    const full = await json(home, ["plugins", "create", "full"]);
    expect(full).toMatchObject({ code: 1, value: { ok: false, error: { code: "folder-not-empty" } } });
    expect((await command(home, ["plugins", "create", "Odd_Id"])).code).toBe(2);
    expect((await command(home, ["plugins", "create", "odd", "--kind", "odd"])).code).toBe(2);
    expect(await readFile(join(author, "full/notes.txt"), "utf8")).toBe("mine");
    expect((await svcCommand(home, ["plugins", "create", "spaced", "--dir", "two words"])).stdout).toContain("\n  cd 'two words'\n");

    const elsewhere = await json(home, ["plugins", "create", "placed", "--dir", "deep/er"]);
    expect(elsewhere).toMatchObject({ code: 0, value: { ok: true, id: "placed", kind: "plain", folder: join(author, "deep/er") } });
  });
});

/** `svc plugins dev --json` in a folder, event by event. */
async function startDev(folder: string): Promise<{ child: ChildProcess; next(): Promise<Record<string, unknown>> }> {
  const child = spawn(process.execPath, [home.program as string, "plugins", "dev", "--json"], {
    cwd: folder,
    env: home.env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  let read = 0;
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  const next = () =>
    eventually(() => {
      const lines = text.split("\n").slice(0, -1);
      if (lines.length <= read) throw new Error(`no further event; so far: ${text}`);
      return JSON.parse(lines[read++] as string) as Record<string, unknown>;
    }, 20_000);
  return { child, next };
}

function withMethod(answer: string, extra = ""): string {
  return `import { definePlugin, z } from "svc/sdk";

export default definePlugin({
  id: "weather",
  version: "1.0.0",
  svc: { api: "^1.0.0" },
  setup(ctx) {
    ctx.registerRpc({ method: "weather.now", scope: "read", params: z.object({}), handler: () => ({ sky: "${answer}" }) });${extra}
  },
});
`;
}

/** As editors save: another file takes the place of the old one, so that no half-written one is ever seen, however slow the machine. */
const save = writeFileAtomic;

test("svc plugins dev shows each edit in the running gateway, and a broken one with its place while the old one serves on", async () => {
  const folder = await copyOf("plain", "weather");
  const manifest = join(folder, "svc.plugin.json");
  await writeFile(manifest, (await readFile(manifest, "utf8")).replace('"entry"', '"contributes": { "rpc": ["weather.now"] },\n  "entry"'));
  await save(join(folder, "src/index.ts"), withMethod("grey"));
  const dev = await startDev(folder);
  expect(await dev.next()).toMatchObject({ files: [], id: "weather", status: "enabled" });
  expect(await call("weather.now")).toMatchObject({ sky: "grey" });

  await save(join(folder, "src/index.ts"), withMethod("blue"));
  expect(await dev.next()).toMatchObject({ files: ["src/index.ts"], id: "weather", status: "reloaded" });
  expect(await call("weather.now")).toMatchObject({ sky: "blue" });

  await save(join(folder, "src/index.ts"), withMethod("red", "\n    oops(;"));
  const broken = await dev.next();
  expect(broken).toMatchObject({ status: "failed", error: expect.stringMatching(/^src\/index\.ts:9:\d+: /) });
  await save(join(folder, "src/index.ts"), withMethod("red", "\n    oops();"));
  expect(await dev.next()).toMatchObject({ status: "failed", error: expect.stringMatching(/^src\/index\.ts:9:\d+: oops is not defined$/) });
  expect(await call("weather.now")).toMatchObject({ sky: "blue" });

  await save(join(folder, "src/index.ts"), withMethod("clear"));
  expect(await dev.next()).toMatchObject({ status: "reloaded" });
  expect(await call("weather.now")).toMatchObject({ sky: "clear" });

  dev.child.kill("SIGINT");
  expect((await once(dev.child, "close"))[0]).toBe(130);
  expect(gateway.child.exitCode).toBeNull();
});

test("svc plugins dev names what was refused of a plugin that loads", async () => {
  const folder = await copyOf("plain", "refused");
  const dev = await startDev(folder);
  expect(await dev.next()).toMatchObject({ status: "enabled", refused: [] });
  await save(join(folder, "src/index.ts"), withMethod("grey").replace('id: "weather"', 'id: "refused"'));
  expect(await dev.next()).toMatchObject({
    status: "reloaded",
    refused: ['plugin "refused": rpc "weather.now" is not listed in contributes.rpc of svc.plugin.json; add it there'],
  });
  dev.child.kill("SIGINT");
  await once(dev.child, "close");
});

test("a plugin runs in a process of its own also where packages are links", async () => {
  const folder = await copyOf("tool", "apart");
  const apart = await configured(await product.home(), {
    gateway: { mode: "local", auth: { token: "e2e-token-1234" } },
    plugins: { load: { paths: [folder] }, entries: { apart: { enabled: true, isolation: "process" } } },
  });
  const other = await gatewayIn(apart);
  const { plugins } = (await commandJson(apart, ["plugins", "list"])).value as { plugins: Array<{ id: string; state: string }> };
  expect(plugins.find((p) => p.id === "apart")).toMatchObject({ state: "active" });
  await other.kill("SIGTERM");
  await apart.remove();
});

test("svc plugins dev loads a plugin that waits for its first use, so that its faults are seen", async () => {
  const folder = await copyOf("embedding", "embed-lazy");
  const dev = await startDev(folder);
  expect(await dev.next()).toMatchObject({ id: "embed-lazy", status: "enabled" });
  const index = join(folder, "src/index.ts");
  const text = await readFile(index, "utf8");

  await writeFile(index, text.replace("setup(ctx) {", 'setup(ctx) {\n    throw new Error("not yet");'));
  expect(await dev.next()).toMatchObject({ status: "failed", error: expect.stringMatching(/^src\/index\.ts:\d+:\d+: not yet$/) });
  await writeFile(index, text);
  expect(await dev.next()).toMatchObject({ status: "reloaded" });

  dev.child.kill("SIGINT");
  await once(dev.child, "close");
});

test("svc plugins dev tells a person what happened, and needs a running gateway", async () => {
  const folder = await copyOf("plain", "told");
  const child = spawn(process.execPath, [home.program as string, "plugins", "dev"], { cwd: folder, env: home.env });
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));

  await eventually(() => text.includes("watching told; Ctrl-C ends it"));
  await save(join(folder, "src/index.ts"), "export default {");
  await eventually(() => text.includes("src/index.ts:1:"));
  expect(text).toMatch(
    /^\d\d:\d\d:\d\d enabled told \d+ ms\nwatching told; Ctrl-C ends it\n\d\d:\d\d:\d\d failed told src\/index\.ts \d+ ms\n {9}src\/index\.ts:1:\d+: /,
  );
  child.kill("SIGINT");
  await once(child, "close");

  const alone = { ...(await product.home()), cwd: folder };
  const refused = await command(alone, ["plugins", "dev", folder]);
  await alone.remove();
  const nowhere = await commandJson(home, ["plugins", "dev", join(author, "nowhere")]);
  expect(nowhere).toMatchObject({ code: 1, value: { ok: false, error: { code: "not-a-plugin-folder" } } });
  await expect(access(join(author, "nowhere"))).rejects.toThrow("ENOENT");
  expect(refused).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("gateway not reachable") });
});

test("svc plugins validate names what does not hold", async () => {
  const folder = await copyOf("tool", "checked");
  expect(await commandJson(home, ["plugins", "validate", folder])).toMatchObject({ code: 0, value: { ok: true } });

  await rm(join(folder, "README.md"));
  const { code, value } = await commandJson(home, ["plugins", "validate", folder]);

  expect(code).toBe(1);
  const told = await svcCommand(home, ["plugins", "validate", "checked"]);
  expect(told).toMatchObject({ code: 1, stderr: "" });
  expect(told.stdout).toContain("ok   its manifest is valid\n");
  expect(told.stdout).toContain("fail its README names it and each permission it asks for\n     README.md: there is none\n");
  const failed = (value.checks as Array<{ name: string; ok: boolean; failure?: string }>).filter((c) => !c.ok);
  expect(failed).toEqual([
    {
      name: "its README names it and each permission it asks for",
      ok: false,
      failure: expect.stringContaining("README.md: there is none"),
    },
  ]);
});

test("svc plugins build writes the schema of the code and leaves the rest of the manifest alone", async () => {
  const folder = await copyOf("tool", "built");
  const manifest = join(folder, "svc.plugin.json");
  const commented = (await readFile(manifest, "utf8")).replace("{", "{\n  // what it is\n");
  await writeFile(manifest, commented);
  const index = join(folder, "src/index.ts");
  await writeFile(index, (await readFile(index, "utf8")).replace('z.string().default("echo: ")', 'z.string().max(9).default("echo: ")'));

  const check = await commandJson(home, ["plugins", "build", folder, "--check"]);
  expect(check).toMatchObject({ code: 1, value: { error: { code: "config-schema-drift" } } });
  expect(await readFile(manifest, "utf8")).toBe(commented);

  expect(await json(home, ["plugins", "build", "built"])).toMatchObject({ code: 0, value: { written: true } });
  const written = await readFile(manifest, "utf8");
  expect(written).toContain("// what it is");
  expect(written).toContain('"maxLength": 9');
  const before = (text: string) => text.slice(0, text.indexOf('"configSchema"'));
  expect(before(written)).toBe(before(commented));
  expect(await commandJson(home, ["plugins", "build", folder, "--check"])).toMatchObject({ code: 0, value: { written: false } });
});

test("svc plugins build writes the errors of the code also where nothing was written before", async () => {
  const folder = await copyOf("tool", "mute");
  const manifest = join(folder, "svc.plugin.json");
  await writeFile(manifest, (await readFile(manifest, "utf8")).replace("{", '{\n  "protocol": "src/protocol.ts",'));
  const row = { message: "no echo from {place}", http: 503, rpc: "UNAVAILABLE", retryable: true };
  const module = (code: string) => `import { defineErrors } from "svc/sdk";
export default { errors: [defineErrors({ "${code}": ${JSON.stringify({ ...row, expose: ["place"] })} })] };
`;
  const protocol = join(folder, "src/protocol.ts");
  const written = () => readFile(join(folder, "svc.protocol.json"), "utf8");

  await writeFile(protocol, module("run-failed"));
  const refused = "svc.protocol.json: the error run-failed is not the plugin's own; expected mute-<what went wrong>";
  expect(await commandJson(home, ["plugins", "build", folder])).toMatchObject({ code: 1, value: { error: { message: refused } } });
  await writeFile(protocol, module("mute-gone"));
  expect(await commandJson(home, ["plugins", "build", folder, "--check"])).toMatchObject({
    code: 1,
    value: { error: { code: "protocol-drift" } },
  });
  await expect(written()).rejects.toThrow("ENOENT");

  expect(await commandJson(home, ["plugins", "build", folder])).toMatchObject({ code: 0, value: { written: true } });
  expect(JSON.parse(await written())).toEqual({
    methods: {},
    errors: { "mute-gone": { ...row, details: { type: "object", properties: { place: {} } } } },
  });
  expect(await commandJson(home, ["plugins", "build", folder, "--check"])).toMatchObject({ code: 0, value: { written: false } });
});

test("svc plugins install takes the folder up in the running gateway", async () => {
  await copyOf("tool", "installed");

  const done = await json(home, ["plugins", "install", "installed"]);

  expect(done).toMatchObject({ code: 0, value: { ok: true } });
  const listed = (await commandJson(home, ["plugins", "list"])).value.plugins as Array<{ id: string; state: string; origin: string }>;
  expect(listed.find((p) => p.id === "installed")).toMatchObject({ state: "active", origin: "global" });
});
