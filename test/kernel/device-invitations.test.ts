import type { TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectDevice, createDevice, far, gatewayWithProxy, type TestDevice } from "./_devices.ts";
import { allScopes, type Frame } from "./_ws.ts";

const read = ["operator.read"];
const write = ["operator.read", "operator.write"];
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await gatewayWithProxy({ env: { SVC_HANDSHAKE_TIMEOUT_MS: "60000" } });
});
afterAll(() => gateway.close());

const pairedAs = async ({ id }: TestDevice) =>
  (await gateway.rpc<{ paired: Frame[] }>("device.pair.list")).paired.find((device) => device.deviceId === id);

const invite = async (scopes?: string[]) => {
  const operator = await gateway.ws(scopes ? { scopes } : {});
  const invitation = (await operator.request("device.pair.invite", {})) as { requestId: string; bootstrapToken: string };
  return { operator, ...invitation };
};

test("an invited device comes in from elsewhere without secret and approval, once, and is known from then on", async () => {
  const [device, second] = [createDevice(), createDevice()];
  const { operator, requestId, bootstrapToken } = await invite();

  const inside = await connectDevice(gateway, device, { auth: { bootstrapToken }, scopes: write, headers: far() });

  expect(inside.hello.auth).toEqual({
    ...{ role: "operator", scopes: write, deviceToken: expect.any(String), issuedAtMs: expect.any(Number) },
  });
  expect(await operator.event("device.pair.resolved", (e) => e.requestId === requestId)).toMatchObject({
    ...{ deviceId: device.id, decision: "approved" },
  });
  expect(await pairedAs(device)).toMatchObject({ approvedVia: "owner", scopes: write });
  const late = connectDevice(gateway, second, { auth: { bootstrapToken }, scopes: read, headers: far("203.0.113.77") });
  await expect(late).rejects.toThrow("bootstrap token mismatch");
  const { deviceToken } = inside.hello.auth;
  await (await connectDevice(gateway, device, { auth: { deviceToken }, scopes: write, headers: far() })).close();
  await inside.close();
  await operator.close();
});

test("it has no more than whoever invited it", async () => {
  const { operator, bootstrapToken } = await invite(["operator.read", "operator.pairing"]);
  const inside = await connectDevice(gateway, createDevice(), {
    ...{ auth: { bootstrapToken }, scopes: [...allScopes, "operator.pairing"], headers: far() },
  });
  expect(inside.hello.auth.scopes).toEqual(["operator.read", "operator.pairing"]);
  await inside.close();
  await operator.close();
});

test("it stays outside once the invitation was withdrawn, or whoever made it has left", async () => {
  const [withdrawn, left] = [await invite(), await invite()];
  await withdrawn.operator.request("device.pair.uninvite", { requestId: withdrawn.requestId });
  await left.operator.close();
  for (const { bootstrapToken } of [withdrawn, left]) {
    const outside = connectDevice(gateway, createDevice(), { auth: { bootstrapToken }, scopes: read, headers: far("203.0.113.78") });
    await expect(outside).rejects.toThrow("bootstrap token mismatch");
  }
  await withdrawn.operator.close();
});
