import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { askToPair, connectDevice, createDevice, dial, far, gatewayWithProxy, pairFar } from "./_devices.ts";
import { allScopes, challenged, connected, connectParams } from "./_ws.ts";

const read = ["operator.read"];
const write = ["operator.read", "operator.write"];
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await gatewayWithProxy();
});
afterAll(() => gateway.close());

describe("a device on this machine with the secret", () => {
  test("is paired without a question, gets its token, and is known from then on", async () => {
    const device = createDevice();
    const operator = await gateway.ws();

    const socket = await connectDevice(gateway, device, { scopes: write });

    expect(socket.hello.auth).toEqual({
      role: "operator",
      scopes: write,
      deviceToken: expect.stringMatching(/^[\w-]{43}$/),
      issuedAtMs: expect.any(Number),
    });
    expect(await operator.event("device.pair.resolved", (e) => e.deviceId === device.id)).toEqual({
      requestId: expect.any(String),
      deviceId: device.id,
      decision: "approved",
      ts: expect.any(Number),
    });
    const { paired } = await gateway.rpc<{ paired: Array<Record<string, unknown>> }>("device.pair.list");
    expect(paired.find((d) => d.deviceId === device.id)).toEqual({
      deviceId: device.id,
      publicKey: device.publicKey,
      platform: "test",
      clientId: "gateway-client",
      clientMode: "backend",
      role: "operator",
      roles: ["operator"],
      scopes: write,
      approvedVia: "silent",
      createdAtMs: expect.any(Number),
      approvedAtMs: expect.any(Number),
      lastSeenAtMs: expect.any(Number),
      connected: true,
      tokens: [{ role: "operator", scopes: write, createdAtMs: expect.any(Number) }],
    });
    await socket.close();
  });
});
