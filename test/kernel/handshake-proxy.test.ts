import { createTestGateway, type TestGateway } from "svc/sdk/testing";
import { afterEach, describe, expect, test } from "vitest";
import { createDevice, dial } from "./_devices.ts";
import { type BareSocket, challenged, connectParams } from "./_ws.ts";

let gateway: TestGateway;
afterEach(() => gateway.close());

const proxied = (trustedProxy: object = {}, gatewayConfig: object = {}) => ({
  gateway: {
    auth: {
      mode: "trusted-proxy" as const,
      password: "local password",
      trustedProxy: { userHeader: "x-user", allowLoopback: true, ...trustedProxy },
    },
    trustedProxies: ["127.0.0.1"],
    ...gatewayConfig,
  },
});
const start = async (...config: Parameters<typeof proxied>) => {
  gateway = await createTestGateway({ plugins: ["store", "devices"], config: proxied(...config) });
};
const by = (user: string) => ({ "x-user": user, "x-forwarded-for": "203.0.113.9", host: "127.0.0.1" });
const ask = async (socket: BareSocket, change: Record<string, unknown> = {}) =>
  socket.request("c", "connect", { ...connectParams(""), auth: {}, ...change });
const enter = async (user: string, scopes: string[]) => {
  const socket = await challenged(gateway, by(user));
  const res = await ask(socket, { scopes });
  if (!res.ok) throw new Error(res.error.message);
  return Object.assign(socket, { hello: res.payload });
};

describe("through a trusted proxy", () => {
  test("an operator needs no device, and has what it asks for up to the ceiling", async () => {
    await start({ scopes: ["operator.read", "operator.write"] });
    const socket = await enter("ada", ["operator.read", "operator.admin"]);
    expect(socket.hello.auth).toEqual({ role: "operator", scopes: ["operator.read"] });
    await socket.close();
  });

  test("a device that shows itself is neither paired nor in the way, but its proof must be right", async () => {
    await start();
    const device = createDevice();
    const [good, bad] = [await dial(gateway, by("ada")), await dial(gateway, by("ada"))];
    const change = { auth: {}, scopes: ["operator.pairing"] };
    expect((await good.connect(device, change)).payload.auth).toEqual({ role: "operator", scopes: ["operator.pairing"] });
    expect((await good.request("l", "device.pair.list")).payload).toEqual({ pending: [], paired: [] });
    expect((await bad.connect(device, change, (p) => void Object.assign(p.device, { nonce: "x" }))).error.details.code).toBe(
      "DEVICE_AUTH_NONCE_MISMATCH",
    );
    await good.close();
  });

  test("a user without admin manages no devices of others, though it shows none of its own", async () => {
    await start({ scopes: ["operator.pairing", "operator.read"] });
    const device = createDevice();
    const owner = await dial(gateway);
    expect((await owner.connect(device, { auth: { password: "local password" }, scopes: ["operator.admin"] })).ok).toBe(true);
    const user = await enter("ada", ["operator.pairing", "operator.read"]);
    const role = "operator";
    const calls: Array<[string, object]> = [
      ["device.pair.remove", { deviceId: device.id }],
      ["device.pair.rename", { deviceId: device.id, label: "mine" }],
      ["device.token.rotate", { deviceId: device.id, role }],
      ["device.token.revoke", { deviceId: device.id, role }],
    ];
    for (const [method, params] of calls) {
      expect((await user.request(method, method, params)).error).toMatchObject({ code: "FORBIDDEN", details: { code: "DEVICE_NOT_OWN" } });
    }
    expect((await user.request("l", "device.pair.list")).payload).toEqual({ pending: [], paired: [] });
    expect((await owner.request("h", "health")).ok).toBe(true);
    await Promise.all([user.close(), owner.close()]);
  });

  test("who is not named is refused with what is missing", async () => {
    await start();
    const socket = await challenged(gateway, { "x-forwarded-for": "203.0.113.9", host: "127.0.0.1" });
    expect((await ask(socket, { auth: { token: "local password" } })).error).toMatchObject({
      code: "INVALID_REQUEST",
      message: expect.stringMatching(/^unauthorized: /),
      details: { code: "AUTH_IDENTITY_HEADER_REQUIRED", canRetryWithDeviceToken: false, recommendedNextStep: "review_auth_configuration" },
    });
  });

  test("a caller on this machine uses the password, and a device token opens nothing", async () => {
    await start();
    const local = await challenged(gateway);
    expect((await ask(local, { auth: { password: "local password" }, scopes: ["operator.admin"] })).payload.auth.scopes).toEqual([
      "operator.admin",
    ]);
    const other = await dial(gateway);
    const res = await other.connect(createDevice(), { auth: { deviceToken: "x" } });
    expect(res.error.details.code).toBe("AUTH_DEVICE_TOKEN_MISMATCH");
    await local.close();
  });
});

describe("when the rules for proxies change", () => {
  test("who is no longer let in is closed with 4001, and all others go on", async () => {
    await start();
    const local = await challenged(gateway);
    await ask(local, { auth: { password: "local password" } });
    const [ada, bob] = [await enter("ada", ["operator.read"]), await enter("bob", ["operator.read"])];

    await gateway.reload(proxied({ allowUsers: ["bob"] }));

    expect(await ada.end()).toEqual({ code: 4001, reason: "gateway policy changed" });
    for (const socket of [bob, local]) expect((await socket.request("h", "health")).ok).toBe(true);

    await gateway.reload(proxied({ allowUsers: ["bob"], scopes: ["operator.write"] }));
    expect((await bob.request("h2", "health")).ok).toBe(true);
    await gateway.reload(proxied({ allowUsers: ["bob"], scopes: ["operator.approvals"] }));
    expect(await bob.end()).toEqual({ code: 4001, reason: "gateway policy changed" });
    await local.close();
  });

  test("a proxy that is no longer listed takes its users with it", async () => {
    await start();
    const ada = await enter("ada", []);
    await gateway.reload(proxied({}, { trustedProxies: ["198.51.100.1"] }));
    expect(await ada.end()).toEqual({ code: 4001, reason: "gateway policy changed" });
  });
});
