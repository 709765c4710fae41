import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { definePlugin, type ModelProvider, type PluginContext } from "svc/sdk";
import { createTestGateway, type TestGateway } from "svc/sdk/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { edit, line, quickReload } from "./_reload.ts";
import { connected } from "./_ws.ts";

let gateway: TestGateway;
let ctx: PluginContext<unknown>;
const spy = definePlugin<unknown>({
  id: "spy",
  version: "1.0.0",
  svc: { api: "*" },
  setup(given) {
    ctx = given;
  },
});

const file = (name: string) => join(gateway.stateDir, name);
const write = (name: string, values: object) => writeFile(file(name), JSON.stringify(values), { mode: 0o600 });
const ref = (provider: string, id: string) => ({ source: "file", provider, id });
const lab = () => ctx.contributions<ModelProvider>("modelProvider").get("lab")?.value;
const other = () => ctx.contributions<ModelProvider>("modelProvider").get("other")?.value;
const reload = () => gateway.rpc<Record<string, unknown>>("secrets.reload");

/** Secrets of models in one file, that of the gateway in another. */
beforeEach(async () => {
  gateway = await createTestGateway({ plugins: ["model-openai-compatible", spy], config: { gateway: { reload: quickReload } } });
  await write("models.secret", { lab: "sk-lab-0123456789", other: "sk-other-0123456789" });
  await write("gateway.secret", { token: gateway.token });
  await edit(gateway, (c) => {
    const source = { source: "file", mode: "json" };
    c.secrets = { providers: { vault: { ...source, path: file("models.secret") }, doors: { ...source, path: file("gateway.secret") } } };
    const vendor = { baseUrl: "http://127.0.0.1:9/v1", models: [{ id: "m" }] };
    c.models = { providers: { lab: { ...vendor, apiKey: ref("vault", "/lab") }, other: { ...vendor, apiKey: ref("vault", "/other") } } };
    c.gateway.auth = { token: ref("doors", "/token") };
  });
  await line(gateway, "config reload applied");
});
afterEach(() => gateway.close());

describe("secrets.reload", () => {
  test("asks for all of them again; owners with new values are recreated, the others are not", async () => {
    const before = [lab(), other()];
    await write("models.secret", { lab: "sk-lab-rotated-0123", other: "sk-other-0123456789" });

    expect(await reload()).toEqual({
      ok: true,
      resolved: 3,
      warningCount: 0,
      stale: [],
      unavailable: [],
      changedOwners: ["models.providers.lab"],
    });

    expect(lab() === before[0]).toBe(false);
    expect(other() === before[1]).toBe(true);
  });

  test("without a change touches nobody", async () => {
    const before = [lab(), other()];
    expect(await reload()).toMatchObject({ ok: true, changedOwners: [] });
    expect([lab() === before[0], other() === before[1]]).toEqual([true, true]);
  });

  test("keeps the value of who cannot be asked, as stale, and health says so", async () => {
    const before = lab();
    await rm(file("models.secret"));
    expect(await reload()).toMatchObject({ ok: true, stale: ["models.providers.lab", "models.providers.other"], unavailable: [] });
    expect(lab() === before).toBe(true);
    expect((await gateway.rpc<{ secrets: object }>("health", { probe: true })).secrets).toEqual({
      stale: ["models.providers.lab", "models.providers.other"],
      unavailable: [],
    });
    await write("models.secret", { lab: "sk-lab-0123456789", other: "sk-other-0123456789" });
    expect(await reload()).toMatchObject({ stale: [], warningCount: 0 });
  });

  test("is refused as a whole when the gateway's own secret cannot be had", async () => {
    const socket = await connected(gateway);
    await write("models.secret", { lab: "sk-lab-rotated-0123", other: "sk-other-0123456789" });
    const before = lab();
    await rm(file("gateway.secret"));

    await expect(reload()).rejects.toMatchObject({
      message: expect.stringMatching(/^secrets reload rejected: gateway\.auth\.token: .*the current secrets stay in force$/),
    });

    expect(lab() === before).toBe(true);
    expect((await gateway.fetch("/healthz")).status).toBe(200);
    expect((await socket.request("h", "health")).ok).toBe(true);
    await socket.close();
  });

  test("with a new secret of the gateway closes who used the old one", async () => {
    const socket = await connected(gateway);
    const answered = socket.request("s", "secrets.reload").catch(() => undefined);
    await write("gateway.secret", { token: "another-token-0123" });
    await gateway.gateway.reload("secrets");
    expect(await socket.end()).toEqual({ code: 4001, reason: "gateway auth changed" });
    await answered;
  });

  test.each(["off", "hot", "restart"] as const)("works in mode %s", async (mode) => {
    await edit(gateway, (c) => (c.gateway.reload.mode = mode));
    await line(gateway, "config reload applied (gateway.reload.mode)");
    const before = lab();
    await write("models.secret", { lab: "sk-lab-rotated-0123", other: "sk-other-0123456789" });
    expect(await reload()).toMatchObject({ changedOwners: ["models.providers.lab"] });
    expect(lab() === before).toBe(false);
  });

  test("brings no edit of the file with it", async () => {
    await edit(gateway, (c) => (c.gateway.reload.mode = "off"));
    await line(gateway, "config reload applied (gateway.reload.mode)");
    await edit(gateway, (c) => (c.tools = { profile: "minimal" }));
    await reload();
    expect(gateway.gateway.config().tools.profile).toBe("full");
  });
});

test("no log line of a reload holds a secret", () => {
  const text = JSON.stringify(gateway.logs);
  for (const secret of ["sk-lab-0123456789", "sk-other-0123456789", gateway.token]) expect(text).not.toContain(secret);
});

test("plugins see masked values only, in the snapshot and in the hook", async () => {
  const seen: unknown[] = [];
  ctx.on("config.changed", (event) => void seen.push(event));
  await edit(gateway, (c) => (c.tools = { profile: "minimal" }));
  await line(gateway, "config reload applied (tools.profile)");
  expect(seen).toHaveLength(1);
  expect(JSON.stringify([seen, ctx.snapshot()])).not.toContain("sk-lab");
  expect(JSON.stringify(seen)).toContain("__SVC_REDACTED__");
});
