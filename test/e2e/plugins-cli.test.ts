import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../../sdk/testing/eventually.ts";
import { method } from "../kernel/_plugin-gateway.ts";
import { writePlugin } from "../kernel/_plugins.ts";
import { configured, freshHome, stopAll, token } from "./_cli.ts";
import { command, commandJson } from "./_command.ts";
import { gatewayHere } from "./_gateway-here.ts";
import { type Home, svcCommand } from "./_process.ts";

let root: string;
const manifest = { name: "Lamp", description: "Lights up", contributes: { rpc: ["lamp.word"] }, permissions: ["net"] };
const lamp = (word: string) => writePlugin(root, "lamp", { manifest, setup: method("lamp.word", JSON.stringify(word)) });
const word = async (home: Home) => (await commandJson(home, ["gateway", "call", "lamp.word"])).value.value;

async function prepare(): Promise<Home> {
  const folder = await lamp("old");
  const plugins = { load: { paths: [folder] }, entries: { lamp: { enabled: true } } };
  return configured(await freshHome(), { gateway: { mode: "local", auth: { token } }, plugins });
}

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "svc-plugins-cli-"));
});
afterAll(async () => {
  await rm(root, { recursive: true, force: true });
});

describe("with a running gateway", () => {
  let home: Home;
  beforeAll(async () => {
    home = await prepare();
    await gatewayHere(home);
  });
  afterAll(stopAll);

  test("plugins info tells everything about one plugin", async () => {
    const { code, stdout } = await svcCommand(home, ["plugins", "info", "lamp"]);
    expect(code).toBe(0);
    for (const part of ["lamp  Lamp", "Lights up", `config: ${join(root, "lamp")}`, "active since", "lamp.word", "permissions    net"]) {
      expect(stdout).toContain(part);
    }
    expect((await commandJson(home, ["plugins", "info", "lamp"])).value).toMatchObject({
      ok: true,
      source: "gateway",
      from: { origin: "config" },
      plugin: { id: "lamp" },
    });
  });

  test("plugins disable and enable switch it at once and keep it in the config", async () => {
    expect(await command(home, ["plugins", "disable", "lamp"])).toMatchObject({
      code: 0,
      stdout: "lamp is off; the running gateway says: disabled\n",
    });
    expect((await commandJson(home, ["plugins", "list"])).value.plugins).toContainEqual(
      expect.objectContaining({ id: "lamp", state: "disabled" }),
    );
    expect(JSON.parse(await readFile(join(home.stateDir, "svc.json"), "utf8")).plugins.entries.lamp.enabled).toBe(false);

    expect((await commandJson(home, ["plugins", "enable", "lamp"])).value).toMatchObject({
      ok: true,
      id: "lamp",
      enabled: true,
      state: "active",
    });
    expect(await word(home)).toBe("old");
  });

  test("plugins reload takes an edit in; one that fails is told, exits with 1 and leaves the old one at work", async () => {
    await lamp("new");
    const done = await command(home, ["plugins", "reload", "lamp"]);
    expect(done).toMatchObject({ code: 0, stdout: expect.stringMatching(/^lamp: reloaded \(\d+ ms\)$/m) });
    expect(await word(home)).toBe("new");

    await writePlugin(root, "lamp", { manifest, setup: `throw new Error("bulb burnt");` });
    const failed = await command(home, ["plugins", "reload", "lamp"]);
    expect(failed).toMatchObject({ code: 1, stdout: expect.stringContaining("bulb burnt") });
    expect(await word(home)).toBe("new");
    const list = await command(home, ["plugins", "list"]);
    expect(list.stdout).toMatch(/lamp: its last reload failed: .*bulb burnt/);
  });

  test("plugins disable rids the gateway of a plugin whose broken gate refuses every method", async () => {
    const gate = `ctx.on("rpc.before", () => { throw new Error("hinge broke"); });`;
    await writePlugin(root, "gate", { setup: gate, manifest: { permissions: ["hooks.gate"] } });
    const own = await freshHome();
    const entries = { gate: { enabled: true, grants: ["hooks.gate"] } };
    await configured(own, { gateway: { mode: "local", auth: { token } }, plugins: { load: { paths: [join(root, "gate")] }, entries } });
    await gatewayHere(own);
    expect(await command(own, ["plugins", "list"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("refused by plugin gate"),
    });

    const { code, stdout, stderr } = await command(own, ["plugins", "disable", "gate"]);

    expect({ code, stdout }).toEqual({ code: 0, stdout: "gate is off; written to the config file\n" });
    expect(stderr).toContain('the request to the running gateway failed: a check of plugin "gate" failed');
    await eventually(async () => (await command(own, ["plugins", "list"])).code === 0);
  });

  test.each(["info", "enable", "disable"])("plugins %s of an id nobody has says so", async (verb) => {
    const { code, stderr } = await command(home, ["plugins", verb, "nobody"]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("plugin not installed: nobody") });
  });
});

describe("without a gateway", () => {
  let home: Home;
  beforeAll(async () => {
    home = await prepare();
  });
  afterAll(stopAll);

  test("plugins info comes from the manifest", async () => {
    const { value } = await commandJson(home, ["plugins", "info", "lamp"]);
    expect(value).toMatchObject({
      ok: true,
      source: "manifests",
      plugin: { id: "lamp", runtime: { state: "ready" } },
      declared: { rpc: ["lamp.word"] },
    });
  });

  test("plugins disable writes the config", async () => {
    const done = await command(home, ["plugins", "disable", "lamp"]);
    expect(done).toMatchObject({ code: 0, stdout: "lamp is off; no gateway runs here\n" });
    expect((await commandJson(home, ["plugins", "info", "lamp"])).value).toMatchObject({
      plugin: { enabled: false, runtime: { code: "not-enabled" } },
    });
  });

  test("plugins reload needs one", async () => {
    const { code, stderr } = await command(home, ["plugins", "reload", "lamp"]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("gateway not reachable") });
  });
});
