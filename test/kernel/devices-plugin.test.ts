import { type Devices, definePlugin } from "svc/sdk";
import type { TestGateway } from "svc/sdk/testing";
import { describe, expect, test } from "vitest";
import { askToPair, connectDevice, createDevice, dial, far, gatewayWithProxy, pairFar } from "./_devices.ts";

const read = ["operator.read"];

describe("while the plugin that keeps the devices does not run", () => {
  const switched = (enabled: boolean) => ({
    gateway: { trustedProxies: ["127.0.0.1"] },
    plugins: { entries: { devices: { enabled } } },
  });
  const named = {
    code: "UNAVAILABLE",
    retryable: true,
    message: expect.stringMatching(/service "devices@1" .* plugin "devices" is disabled/),
  };

  test("the secret opens as before, a device key is refused with the plugin's name, and who is connected stays", async () => {
    const one = await gatewayWithProxy();
    const device = createDevice();
    const inside = await pairFar(one, device, { scopes: read });
    const { deviceToken } = inside.hello.auth;
    await one.reload(switched(false));

    for (const auth of [{ token: one.token }, { deviceToken }]) {
      const socket = await dial(one, far());
      expect((await socket.connect(device, { auth, scopes: read })).error).toMatchObject(named);
    }
    const unnamed = await dial(one);
    const client = { id: "test", version: "1", platform: "test", mode: "test" };
    expect((await unnamed.connect(createDevice(), { scopes: read, client })).error).toMatchObject(named);
    const operator = await connectDevice(one, createDevice(), { scopes: ["operator.admin"] });
    expect(operator.hello.auth).toEqual({ role: "operator", scopes: ["operator.admin"] });
    expect((await inside.request("health", "health")).ok).toBe(true);

    await one.reload(switched(true));
    const back = await connectDevice(one, device, { auth: { deviceToken }, scopes: read, headers: far() });
    await Promise.all([inside.close(), operator.close(), back.close()]);
    await one.close();
  });

  test("a wrong key is refused for what is wrong with it", async () => {
    const one = await gatewayWithProxy({ config: switched(false) });
    const socket = await dial(one, far());
    const { error } = await socket.connect(createDevice(), {}, (p) => void Object.assign(p.device, { signature: "AAAA" }));
    expect(error.details.code).toBe("DEVICE_AUTH_SIGNATURE_INVALID");
    await one.close();
  });
});

describe("a reload of the plugin that keeps the devices", () => {
  const restart = (one: TestGateway) => one.rpc("plugins.reload", { plugins: [{ pluginId: "devices" }] });

  test("leaves who is connected, and what it is told to remove then is closed", async () => {
    const one = await gatewayWithProxy();
    const device = createDevice();
    const socket = await pairFar(one, device, { scopes: read });
    await restart(one);
    expect((await socket.request("health", "health")).ok).toBe(true);

    await one.rpc("device.pair.remove", { deviceId: device.id });

    expect(await socket.end()).toEqual({ code: 4001, reason: "device removed" });
    await one.close();
  });

  test("lets what waited expire; the device asks again", async () => {
    const one = await gatewayWithProxy();
    const operator = await one.ws();
    const device = createDevice();
    const requestId = await askToPair(one, device, { scopes: read });

    await restart(one);

    expect(await operator.event("device.pair.resolved", (e) => e.deviceId === device.id)).toMatchObject({ requestId, decision: "expired" });
    expect(await one.rpc("device.pair.list")).toEqual({ pending: [], paired: [] });
    await (await pairFar(one, device, { scopes: read })).close();
    await one.close();
  });
});

test("an address that is locked out costs no look at its device", async () => {
  const looked: string[] = [];
  const devices: Devices = {
    async find(deviceId) {
      looked.push(deviceId);
      return undefined;
    },
    pairSilently: async () => undefined,
    invited: () => undefined,
    pairInvited: async () => false,
    ask: () => ({ requestId: "r" }),
    issue: async () => ({ deviceToken: "t", issuedAtMs: 1 }),
    seen: () => undefined,
  };
  const keeper = definePlugin({
    id: "keeper",
    version: "1.0.0",
    svc: { api: "*" },
    setup(ctx) {
      ctx.registerService("devices@1", devices);
    },
  });
  const one = await gatewayWithProxy({ plugins: [keeper] });
  const device = createDevice();
  const refusal = async () => {
    const socket = await dial(one, far());
    const { error } = await socket.connect(device, { auth: { deviceToken: "wrong" }, scopes: read });
    await socket.end();
    return error.details.code;
  };

  for (let i = 0; i < 10; i++) expect(await refusal()).toBe("AUTH_DEVICE_TOKEN_MISMATCH");
  expect(looked).toEqual(Array(10).fill(device.id));
  expect(await refusal()).toBe("AUTH_RATE_LIMITED");

  expect(looked).toHaveLength(10);
  await one.close();
});
