import { createTestGateway } from "svc/sdk/testing";
import { expect, test } from "vitest";

test("a gateway with zero plugins answers connect, health, plugins.list and config.get, and 404s the rest", async () => {
  const gateway = await createTestGateway({ plugins: [] });
  try {
    const health = await gateway.rpc("health");
    expect(health).toMatchObject({ ok: true, phase: "ready", plugins: { loaded: [], errors: [] } });
    expect(await gateway.rpc("plugins.list")).toMatchObject({ mutationAllowed: true });
    const config = await gateway.rpc<{ raw: string; config: { gateway: { auth: unknown } } }>("config.get");
    expect(JSON.stringify(config)).not.toContain(gateway.token);
    expect(config.config.gateway.auth).toMatchObject({ token: "__SVC_REDACTED__" });
    expect((await gateway.fetch("/healthz")).status).toBe(200);
    expect((await gateway.fetch("/v1/models")).status).toBe(404);
    await expect(gateway.rpc("sessions.list")).rejects.toThrow("unknown method: sessions.list");
  } finally {
    await gateway.close();
  }
});
