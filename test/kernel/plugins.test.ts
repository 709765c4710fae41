import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterEach, expect, test } from "vitest";
import { fixture } from "./_fixtures.ts";

let gateway: TestGateway | undefined;
afterEach(async () => {
  await gateway?.close();
  gateway = undefined;
});

type Listed = {
  plugins: Array<{ id: string; state: string; error?: string; runtime: { state: string; code?: string; reason?: string; hint?: string } }>;
};

async function listed(id: string): Promise<Listed["plugins"][number]> {
  const list = await (gateway as TestGateway).rpc<Listed>("plugins.list");
  const row = list.plugins.find((p) => p.id === id);
  if (!row) throw new Error(`${id} is not listed`);
  return row;
}

test("a plugin that throws at load is named with its reason and the gateway is ready without it", async () => {
  gateway = await createTestGateway({ plugins: [fixture("throws-at-load"), fixture("leaky")] });

  expect(await listed("throws-at-load")).toMatchObject({
    state: "error",
    runtime: { state: "failed", code: "import-failed", reason: expect.stringContaining("this module throws while it loads") },
  });
  expect(await gateway.rpc("leaky.ping", { word: "still here" })).toEqual({ greeting: "hello", word: "still here" });
});

test("a plugin that hangs in setup holds up nobody and ends as setup-timeout", async () => {
  gateway = await createTestGateway({
    plugins: [fixture("hangs-in-setup"), fixture("leaky")],
    stragglerMs: 100,
    config: { plugins: { entries: { "hangs-in-setup": { limits: { setupTimeoutMs: 1_000 } } } } },
  });

  expect((await listed("hangs-in-setup")).runtime.state).toBe("loading");
  expect((await gateway.fetch("/readyz")).status).toBe(200);
  const row = await eventually(async () => {
    const found = await listed("hangs-in-setup");
    return found.runtime.state === "failed" && found;
  });
  expect(row.runtime).toMatchObject({
    code: "setup-timeout",
    reason: 'plugin "hangs-in-setup": setup did not finish within 1 s; see svc plugins list',
  });
});

test("what a plugin registered before its setup threw is gone", async () => {
  gateway = await createTestGateway({ plugins: [fixture("throws-in-setup")] });

  expect(await listed("throws-in-setup")).toMatchObject({
    runtime: { state: "failed", code: "setup-failed", reason: expect.stringContaining("half way through") },
  });
  await expect(gateway.rpc("throws-in-setup.ping")).rejects.toThrow(`plugin "throws-in-setup" is not running: setup-failed: `);
});

test("an undeclared registration and one without its permission are refused and reported, the rest works", async () => {
  gateway = await createTestGateway({ plugins: [fixture("undeclared")] });

  expect(await gateway.rpc("undeclared.declared")).toEqual({ ok: true });
  await expect(gateway.rpc("undeclared.secret")).rejects.toThrow("unknown method");
  expect((await listed("undeclared")).runtime).toMatchObject({ state: "degraded", code: "undeclared-contribution" });
  const { diagnostics } = await gateway.rpc<{ diagnostics: Array<{ code: string }> }>("plugins.list");
  expect(diagnostics.map((d) => d.code)).toEqual(["undeclared-contribution", "undeclared-contribution"]);
});

test("a cycle names its members and its path; a missing service names itself", async () => {
  gateway = await createTestGateway({ plugins: [fixture("cycle-a"), fixture("cycle-b"), fixture("needs-missing")] });

  expect((await listed("cycle-a")).runtime).toMatchObject({ code: "cycle", reason: "cycle-a → cycle-b → cycle-a" });
  expect((await listed("cycle-b")).runtime.code).toBe("cycle");
  expect((await listed("needs-missing")).runtime).toMatchObject({ code: "missing-dependency", reason: "nobody provides nowhere@1" });
});

test("invalid plugin config fails that plugin only", async () => {
  gateway = await createTestGateway({
    plugins: [fixture("leaky")],
    config: { plugins: { entries: { leaky: { config: { greetin: "x" } } } } },
  });

  const row = await listed("leaky");
  expect(row.runtime.code).toBe("config-invalid");
  expect(row.runtime.reason).toContain("plugins.entries.leaky.config");
  expect(await gateway.rpc("health")).toMatchObject({ ok: true });
});

test("everything a plugin registered is revoked when the gateway stops", async () => {
  gateway = await createTestGateway({ plugins: [fixture("leaky")] });
  expect((await gateway.fetch("/leaky/tree/a%20b/c")).status).toBe(200);

  await gateway.gateway.close("test");

  expect(gateway.logs.filter((l) => l.fields?.code === "leak")).toEqual([]);
  expect(gateway.gateway.plugins().find((p) => p.id === "leaky")?.state).toBe("disposed");
});

test("a required plugin that fails refuses the start with exit code 78", async () => {
  const start = createTestGateway({
    plugins: [fixture("throws-at-load")],
    config: { plugins: { entries: { "throws-at-load": { required: true } } } },
  });

  await expect(start).rejects.toMatchObject({ code: "required-plugin-failed", spec: { exit: 78 } });
});
