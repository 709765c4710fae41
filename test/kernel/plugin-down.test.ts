import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestGateway, type TestGateway } from "svc/sdk/testing";
import { afterEach, describe, expect, test } from "vitest";
import { findDownOwner } from "../../kernel/loader/plugins-down.ts";
import { quarantineSync } from "../../kernel/operations/quarantine.ts";
import { method, usePluginGateway } from "./_plugin-gateway.ts";

const own = usePluginGateway();
let gateway: TestGateway | undefined;
afterEach(async () => {
  await gateway?.close();
  gateway = undefined;
});

const invalid = { unknownKey: true } as never;
const readyz = async (of: TestGateway) => {
  const answer = await fetch(`${of.url}/readyz`);
  return { status: answer.status, ...((await answer.json()) as { ready: boolean; failing: string[]; problems: Record<string, string> }) };
};

describe("a plugin of the product that was refused", () => {
  test("is named with its reason by its methods, by health and by /readyz, and the gateway stays ready", async () => {
    gateway = await createTestGateway({
      plugins: ["store", "agents", "memory-core"],
      config: { plugins: { entries: { "memory-core": { config: invalid } } } },
    });
    const reason =
      /config-invalid: plugins\.entries\.memory-core\.config: at root: unexpected property 'unknownKey'; compare plugins\.entries\.memory-core\.config with its schema/;

    await expect(gateway.rpc("memory.search", { query: "x" })).rejects.toThrow(
      /^memory\.search: plugin "memory-core" is not running: config-invalid: /,
    );
    const reader = await gateway.ws({ scopes: ["operator.read"] });
    await expect(reader.request("memory.status" as never, {} as never)).rejects.toThrow(reason);
    const health = await gateway.rpc<{ ok: boolean; problems: Record<string, string> }>("health");
    expect(health.ok).toBe(false);
    expect(health.problems["plugin:memory-core"]).toMatch(reason);
    const probe = await readyz(gateway);
    expect(probe).toMatchObject({ status: 200, ready: true, failing: expect.arrayContaining(["plugin:memory-core"]) });
    expect(probe.problems["plugin:memory-core"]).toMatch(reason);
  });

  test("keeps the gateway from being ready when others cannot do without it, and its routes say so on this machine", async () => {
    gateway = await createTestGateway({
      plugins: ["store", "agents", "openai-http"],
      config: { plugins: { entries: { store: { config: invalid } } } },
    });

    const probe = await readyz(gateway);
    expect(probe).toMatchObject({ status: 503, ready: false, failing: expect.arrayContaining(["plugin:store", "plugin:agents"]) });
    expect(probe.problems["plugin:agents"]).toMatch(
      /dependency-failed: plugin "store" is failed: plugins\.entries\.store\.config: it takes no config/,
    );

    const answer = await gateway.fetch("/v1/models");
    const { error } = (await answer.json()) as { error: { message: string; type: string } };
    expect({ status: answer.status, type: error.type }).toEqual({ status: 503, type: "plugin_not_running" });
    expect(error.message).toMatch(/^\/v1\/models: plugin "openai-http" is not running: dependency-failed: .*it takes no config/);
    const proxied = await fetch(`${gateway.url}/v1/models`, { headers: { "x-forwarded-for": "192.0.2.1" } });
    expect(await proxied.text()).not.toMatch(/openai-http|takes no config/);
    expect(() => gateway?.service("store@2")).toThrow(
      /^service "store@2" is not available: plugin "store" is not running: config-invalid: /,
    );
  });

  test("leaves nothing behind once its config is right again", async () => {
    const plugins = ["store", "agents"];
    gateway = await createTestGateway({ plugins, config: { plugins: { entries: { store: { config: invalid } } } } });
    expect((await readyz(gateway)).status).toBe(503);

    await gateway.reload({ plugins: { entries: { store: { config: {} } } } });

    await expect.poll(async () => (await readyz(gateway as TestGateway)).status).toBe(200);
    expect(gateway.service("store@2").status().ok).toBe(true);
  });
});

describe("a plugin of a third party", () => {
  test("that throws in its setup is named by its method for an administrator; health stays well", async () => {
    const folder = await own.write("lamp", { manifest: { contributes: { rpc: ["lamp.on"] } }, setup: 'throw new Error("no bulb");' });
    const { rpc, ws } = await own.start({ plugins: [folder] });

    await expect(rpc("lamp.on")).rejects.toThrow(/^lamp\.on: plugin "lamp" is not running: setup-failed: .*no bulb/);
    const reader = await ws({ scopes: ["operator.read"] });
    await expect(reader.request("lamp.on" as never, {} as never)).rejects.toMatchObject({ code: "FORBIDDEN" });
    expect(await rpc("health")).toMatchObject({ ok: true, plugins: { errors: [{ id: "lamp" }] } });
  });

  test("in quarantine is named by its method; one that is switched off is not", async () => {
    const stateDir = await mkdtemp(join(tmpdir(), "svc-down-"));
    const folder = await own.write("lamp", { manifest: { contributes: { rpc: ["lamp.on"] } }, setup: method("lamp.on", "true") });
    quarantineSync(stateDir, { at: 0, ms: 60_000, what: "method lamp.on", stack: [], pid: 1, plugin: "lamp" });
    const { rpc, close } = await own.start({ plugins: [folder], stateDir });
    await expect(rpc("lamp.on")).rejects.toThrow(/^lamp\.on: plugin "lamp" is not running: quarantined: .*svc plugins enable lamp$/);

    await rpc("plugins.setEnabled", { pluginId: "lamp", enabled: false });
    await expect(rpc("lamp.on")).rejects.toThrow("unknown method: lamp.on");
    await close();
    await rm(stateDir, { recursive: true, force: true });
  });
});

test("nobody is down among plugins that run", () => {
  const record = { id: "lamp", state: "active" };
  const loader = { records: () => [record], find: () => ({ record, candidate: { manifest: { contributes: { rpc: ["lamp.on"] } } } }) };
  expect(findDownOwner(loader as never, "rpc", () => true)).toBeUndefined();
});
