import { createTestGateway, eventually, type TestGateway } from "svc/sdk/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { askToPair, connectDevice, createDevice, dial, far, gatewayWithProxy, pairFar, type TestDevice } from "./_devices.ts";
import { allScopes, type BareSocket, challenged, connected, connectParams, type Frame } from "./_ws.ts";

const read = ["operator.read"];
const write = ["operator.read", "operator.write"];
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await gatewayWithProxy({ env: { SVC_HANDSHAKE_TIMEOUT_MS: "60000" } });
});
afterAll(() => gateway.close());

interface Listed {
  pending: Frame[];
  paired: Frame[];
}
const list = () => gateway.rpc<Listed>("device.pair.list") as Promise<Listed>;
const pairedAs = async ({ id }: TestDevice) => (await list()).paired.find((d) => d.deviceId === id);

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
    expect(await pairedAs(device)).toEqual({
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
    await eventually(async () => (await pairedAs(device)).connected === false);
  });

  test("without a device there is no token in hello-ok", async () => {
    const socket = await connected(gateway);
    expect(socket.hello.auth).toEqual({ role: "operator", scopes: allScopes });
    await socket.close();
  });
});

describe("a client from elsewhere", () => {
  test("with the secret alone is told that it needs a device", async () => {
    const socket = await challenged(gateway, far());
    const res = await socket.request("1", "connect", connectParams(gateway.token));
    expect(res.error).toEqual({
      code: "NOT_PAIRED",
      message: "device identity required",
      details: { code: "DEVICE_IDENTITY_REQUIRED" },
    });
    expect(await socket.end()).toEqual({ code: 1008, reason: "device identity required" });
  });

  test("with a device nobody knows waits for approval, and gets in after it", async () => {
    const device = createDevice();
    const operator = await gateway.ws();
    const socket = await dial(gateway, far());
    const client = {
      id: "gateway-client",
      version: "2",
      platform: "iOS",
      deviceFamily: "Phone",
      mode: "backend",
      displayName: "Ada's phone",
    };

    const { error } = await socket.connect(device, { scopes: write, client });

    const { requestId } = error.details;
    expect(error).toEqual({
      code: "NOT_PAIRED",
      message: "pairing required: device is not approved yet",
      details: {
        code: "PAIRING_REQUIRED",
        reason: "not-paired",
        requestId: expect.any(String),
        remediationHint: "Approve this device from the pending pairing requests.",
        deviceId: device.id,
        requestedRole: "operator",
        requestedScopes: write,
      },
    });
    expect(await socket.end()).toEqual({
      code: 1008,
      reason: `pairing required: device is not approved yet (requestId: ${requestId})`.slice(0, 123),
    });
    const pending = {
      requestId,
      deviceId: device.id,
      publicKey: device.publicKey,
      displayName: "Ada's phone",
      platform: "iOS",
      deviceFamily: "Phone",
      clientId: "gateway-client",
      clientMode: "backend",
      role: "operator",
      roles: ["operator"],
      scopes: write,
      remoteIp: "203.0.113.9",
      silent: false,
      isRepair: false,
      ts: expect.any(Number),
    };
    expect(await operator.event("device.pair.requested", (e) => e.deviceId === device.id)).toEqual(pending);
    expect((await list()).pending).toContainEqual(pending);

    const approved = await gateway.rpc("device.pair.approve", { requestId });

    expect(approved).toMatchObject({ requestId, device: { deviceId: device.id, approvedVia: "owner", scopes: write, tokens: [] } });
    expect(await operator.event("device.pair.resolved", (e) => e.requestId === requestId)).toMatchObject({ decision: "approved" });
    const inside = await connectDevice(gateway, device, { scopes: write, client, headers: far() });
    expect(inside.hello.auth).toMatchObject({ scopes: write, deviceToken: expect.any(String) });
    await inside.close();
  });

  test("asks again under the same request, and can be turned away", async () => {
    const device = createDevice();
    const first = await askToPair(gateway, device, { scopes: read });
    expect(await askToPair(gateway, device, { scopes: read })).toBe(first);
    expect(await gateway.rpc("device.pair.reject", { requestId: first })).toEqual({ requestId: first, deviceId: device.id });
    await expect(gateway.rpc("device.pair.approve", { requestId: first })).rejects.toMatchObject({
      code: "INVALID_REQUEST",
      message: "unknown requestId",
    });
    expect(await askToPair(gateway, device, { scopes: read })).not.toBe(first);
  });

  test.each<[string, Record<string, unknown>]>([
    ["scope-upgrade", { scopes: write }],
    ["role-upgrade", { role: "node" }],
    ["metadata-upgrade", { scopes: read, client: { id: "gateway-client", version: "1", platform: "other", mode: "backend" } }],
  ])("that was approved before waits again for a %s, and keeps no right meanwhile but the old ones", async (reason, change) => {
    const device = createDevice();
    await (await pairFar(gateway, device, { scopes: read })).close();
    const socket = await dial(gateway, far());

    const { error } = await socket.connect(device, change);

    expect(error.details).toMatchObject({ code: "PAIRING_REQUIRED", reason, approvedRoles: ["operator"], approvedScopes: read });
    expect((await list()).pending.find((p) => p.deviceId === device.id)).toMatchObject({ isRepair: true });
    await gateway.rpc("device.pair.approve", { requestId: error.details.requestId });
    const inside = await connectDevice(gateway, device, { ...change, headers: far() });
    expect(inside.hello.auth.scopes).toEqual(change.role === "node" ? [] : change.scopes);
    await inside.close();
  });
});

describe("a device token", () => {
  test("opens without the secret, as deviceToken or as token, and comes back with its age", async () => {
    const device = createDevice();
    const { hello } = await pairFar(gateway, device, { scopes: write });
    const { deviceToken, issuedAtMs } = hello.auth;
    for (const auth of [{ deviceToken }, { token: deviceToken }]) {
      const socket = await connectDevice(gateway, device, { auth, scopes: [], headers: far() });
      expect(socket.hello.auth).toEqual({ role: "operator", scopes: write, deviceToken, issuedAtMs });
      await socket.close();
    }
  });

  test("opens nothing in the hand of another device, without a device, or beside a forged proof", async () => {
    const [device, other] = [createDevice(), createDevice()];
    const { deviceToken } = (await pairFar(gateway, device, { scopes: read })).hello.auth;
    const auth = { deviceToken };
    const refused = async (answer: (socket: Awaited<ReturnType<typeof dial>>) => Promise<Frame>) => {
      const socket = await dial(gateway, far());
      const { error } = await answer(socket);
      await socket.end();
      return [error.message.split(" (")[0], error.details.code, error.details.authReason];
    };
    const stranger = ["unauthorized: device token mismatch", "AUTH_DEVICE_TOKEN_MISMATCH", "device_unknown"];
    expect(await refused((s) => s.connect(other, { auth, scopes: read }))).toEqual(stranger);
    expect(await refused((s) => s.request("1", "connect", connectParams("", { auth, scopes: read })))).toEqual(stranger);
    expect(
      await refused((s) => s.connect(device, { auth, scopes: read }, (p) => void Object.assign(p.device, { signature: other.sign("x") }))),
    ).toEqual(stranger);
    expect(await refused((s) => s.connect(device, { auth: { deviceToken: "x" }, scopes: read }))).toEqual([
      "unauthorized: device token mismatch",
      "AUTH_DEVICE_TOKEN_MISMATCH",
      "device_token_mismatch",
    ]);
    expect(await refused((s) => s.connect(device, { auth, scopes: write }))).toEqual([
      "unauthorized: device token scope mismatch",
      "AUTH_SCOPE_MISMATCH",
      "scope_mismatch",
    ]);
  });

  test("a device that lost its right secret is told to try its token", async () => {
    const device = createDevice();
    await (await pairFar(gateway, device, { scopes: read })).close();
    const socket = await dial(gateway, far("203.0.113.44"));
    const { error } = await socket.connect(device, { auth: { token: "old" }, scopes: read });
    expect(error.details).toEqual({
      code: "AUTH_TOKEN_MISMATCH",
      authReason: "token_mismatch",
      canRetryWithDeviceToken: true,
      recommendedNextStep: "retry_with_device_token",
    });
  });

  test("too many wrong ones lock the address out for tokens, not for the secret", async () => {
    const device = createDevice();
    const { deviceToken } = (await pairFar(gateway, device, { scopes: read })).hello.auth;
    const headers = far("203.0.113.77");
    const tryWith = async (auth: object) => {
      const socket = await dial(gateway, headers);
      const res = await socket.connect(device, { auth, scopes: read });
      socket.ws.terminate();
      return res;
    };
    for (let i = 0; i < 10; i++)
      expect((await tryWith({ deviceToken: `wrong ${i}` })).error.details.code).toBe("AUTH_DEVICE_TOKEN_MISMATCH");
    expect((await tryWith({ deviceToken })).error).toMatchObject({ retryable: true, details: { code: "AUTH_RATE_LIMITED" } });
    expect((await tryWith({ token: gateway.token })).ok).toBe(true);
  });
});

test("the eleventh wrong secret from one address elsewhere is refused as too many, and so is the right one then", async () => {
  const headers = far("203.0.113.90");
  const answer = async (token: string) => {
    const socket = await challenged(gateway, headers);
    const { error } = await socket.request("1", "connect", connectParams(token));
    await socket.end();
    return error.details.code;
  };
  for (let i = 0; i < 10; i++) expect(await answer(`wrong ${i}`)).toBe("AUTH_TOKEN_MISMATCH");
  expect([await answer("wrong"), await answer(gateway.token)]).toEqual(["AUTH_RATE_LIMITED", "AUTH_RATE_LIMITED"]);
});

describe("a node", () => {
  test("that is paired may call nothing of the operator's", async () => {
    const device = createDevice();
    const client = { id: "node-host", version: "1", platform: "linux", mode: "node" };
    const socket = await pairFar(gateway, device, { role: "node", scopes: allScopes, client });
    expect(socket.hello.auth).toMatchObject({ role: "node", scopes: [], deviceToken: expect.any(String) });
    expect((await socket.request("h", "health")).error).toMatchObject({ code: "INVALID_REQUEST", message: "unauthorized role: node" });
    const { deviceToken } = socket.hello.auth;
    const again = await connectDevice(gateway, device, { role: "node", client, auth: { deviceToken }, headers: far() });
    await expect(connectDevice(gateway, device, { client, auth: { deviceToken }, headers: far() })).rejects.toThrow(
      "device token mismatch",
    );
    await Promise.all([socket.close(), again.close()]);
  });
});

describe("the proof of a device", () => {
  test("holds for one socket only", async () => {
    const device = createDevice();
    const first = await dial(gateway, far());
    const second = await dial(gateway, far());
    const { error } = await second.request("1", "connect", first.signed(device, { scopes: read }));
    expect(error).toEqual({
      code: "INVALID_REQUEST",
      message: "device nonce mismatch",
      details: { code: "DEVICE_AUTH_NONCE_MISMATCH", reason: "device-nonce-mismatch" },
    });
    expect(await second.end()).toEqual({ code: 1008, reason: "device nonce mismatch" });
    await first.close();
  });

  test.each<[string, (p: Frame) => void]>([
    ["DEVICE_ID_MISMATCH", (p) => void Object.assign(p.device, { id: "0" })],
    ["SIGNATURE_EXPIRED", (p) => void Object.assign(p.device, { signedAt: p.device.signedAt - 200_000 })],
    ["NONCE_REQUIRED", (p) => void Object.assign(p.device, { nonce: "" })],
    ["SIGNATURE_INVALID", (p) => void p.scopes.push("operator.admin")],
    ["PUBLIC_KEY_INVALID", (p) => void Object.assign(p.device, { publicKey: "" })],
  ])("that is wrong is refused with DEVICE_AUTH_%s, after the secret and also on this machine", async (code, spoil) => {
    const device = createDevice();
    const socket = await dial(gateway);
    expect((await socket.connect(device, { scopes: ["operator.read"] }, spoil)).error.details.code).toBe(`DEVICE_AUTH_${code}`);
    const wrong = await dial(gateway, far("203.0.113.50"));
    const both = await wrong.connect(device, { auth: { token: "wrong" }, scopes: ["operator.read"] }, spoil);
    expect(both.error.details.code).toBe("AUTH_TOKEN_MISMATCH");
  });
});

describe("whose authority ends", () => {
  const subscribed = async (device: TestDevice): Promise<BareSocket> => pairFar(gateway, device, { scopes: allScopes });

  test("a removed device is closed with 4001 and must be approved again", async () => {
    const device = createDevice();
    const socket = await subscribed(device);
    expect(await gateway.rpc("device.pair.remove", { deviceId: device.id })).toEqual({ deviceId: device.id });
    expect(await socket.end()).toEqual({ code: 4001, reason: "device removed" });
    expect(await pairedAs(device)).toBeUndefined();
    await expect(connectDevice(gateway, device, { headers: far() })).rejects.toThrow("pairing required");
  });

  test.each(["device.token.rotate", "device.token.revoke"])("%s closes the sockets of that device and no others", async (method) => {
    const [device, other] = [createDevice(), createDevice()];
    const [socket, stays] = [await pairFar(gateway, device, { scopes: read }), await subscribed(other)];
    const { deviceToken } = socket.hello.auth;
    const answer = await gateway.rpc(method, { deviceId: device.id, role: "operator" });
    expect(await socket.end()).toEqual({ code: 4001, reason: "device token revoked" });
    expect(answer).toEqual(
      method === "device.token.rotate"
        ? { deviceId: device.id, role: "operator", scopes: read, rotatedAtMs: expect.any(Number), tokenDelivery: "withheld-cross-device" }
        : { deviceId: device.id, role: "operator", revokedAtMs: expect.any(Number) },
    );
    await expect(connectDevice(gateway, device, { auth: { deviceToken }, scopes: read, headers: far() })).rejects.toThrow(
      "device token mismatch",
    );
    expect((await stays.request("h", "health")).ok).toBe(true);
    await stays.close();
  });

  test("a device that rotates its own token gets the answer first, and gets in with what it says", async () => {
    const device = createDevice();
    const scopes = [...read, "operator.pairing"];
    const socket = await pairFar(gateway, device, { scopes });
    const res = await socket.request("r", "device.token.rotate", { deviceId: device.id, role: "operator", scopes: read });
    expect(res.payload).toMatchObject({ scopes: read, token: expect.stringMatching(/^[\w-]{43}$/) });
    expect(await socket.end()).toEqual({ code: 4001, reason: "device token revoked" });
    const back = await connectDevice(gateway, device, { auth: { deviceToken: res.payload.token }, scopes: [], headers: far() });
    expect(back.hello.auth.scopes).toEqual(read);
    await back.close();
    await expect(gateway.rpc("device.token.rotate", { deviceId: device.id, role: "operator", scopes })).rejects.toMatchObject({
      details: { code: "SCOPES_EXCEED_TOKEN" },
    });
  });

  test("a device that revokes itself gets the answer first", async () => {
    const device = createDevice();
    const socket = await pairFar(gateway, device, { scopes: ["operator.pairing"] });
    expect((await socket.request("r", "device.pair.remove", { deviceId: device.id })).ok).toBe(true);
    expect(await socket.end()).toEqual({ code: 4001, reason: "device removed" });
  });
});

describe("who may manage devices", () => {
  test("an approver must hold every scope it grants", async () => {
    const requestId = await askToPair(gateway, createDevice(), { scopes: ["operator.read", "operator.admin"] });
    const lesser = await connected(gateway, { scopes: ["operator.pairing", "operator.read"] });
    expect((await lesser.request("a", "device.pair.approve", { requestId })).error).toMatchObject({
      code: "FORBIDDEN",
      details: { code: "MISSING_SCOPE", missingScope: "operator.admin" },
    });
    const enough = await askToPair(gateway, createDevice(), { scopes: read });
    expect((await lesser.request("b", "device.pair.approve", { requestId: enough })).ok).toBe(true);
    await lesser.close();
  });

  test("a device without admin sees and manages only itself", async () => {
    const [device, other] = [createDevice(), createDevice()];
    await (await pairFar(gateway, other, { scopes: read })).close();
    const requestId = await askToPair(gateway, createDevice(), { scopes: [] });
    const socket = await pairFar(gateway, device, { scopes: ["operator.pairing"] });
    const seen = (await socket.request("l", "device.pair.list")).payload;
    expect([seen.pending, seen.paired.map((d: Frame) => d.deviceId)]).toEqual([[], [device.id]]);
    const role = "operator";
    const calls: Array<[string, object]> = [
      ["device.pair.approve", { requestId }],
      ["device.pair.reject", { requestId }],
      ["device.pair.invite", {}],
      ["device.pair.uninvite", { requestId }],
      ["device.pair.remove", { deviceId: other.id }],
      ["device.pair.rename", { deviceId: other.id, label: "mine" }],
      ["device.token.rotate", { deviceId: other.id, role }],
      ["device.token.revoke", { deviceId: other.id, role }],
    ];
    for (const [method, params] of calls) {
      expect((await socket.request(method, method, params)).error).toMatchObject({
        code: "FORBIDDEN",
        details: { code: "DEVICE_NOT_OWN" },
      });
    }
    expect((await socket.request("own", "device.pair.rename", { deviceId: device.id, label: " Mine " })).payload).toEqual({
      deviceId: device.id,
      label: "Mine",
    });
    expect(await pairedAs(device)).toMatchObject({ label: "Mine" });
    await socket.close();
  });

  test.each([
    ["device.pair.approve", { requestId: "x" }, "unknown requestId"],
    ["device.pair.reject", { requestId: "x" }, "unknown requestId"],
    ["device.pair.uninvite", { requestId: "x" }, "unknown requestId"],
    ["device.pair.remove", { deviceId: "x" }, "unknown deviceId"],
    ["device.pair.rename", { deviceId: "x", label: "y" }, "unknown deviceId"],
    ["device.token.rotate", { deviceId: "x", role: "operator" }, "unknown deviceId"],
    ["device.token.revoke", { deviceId: "x", role: "operator" }, "unknown deviceId"],
  ])("%s of what is not there is an invalid request", async (method, params, message) => {
    await expect(gateway.rpc(method, params)).rejects.toMatchObject({ code: "INVALID_REQUEST", message });
  });

  test("events of pairing go to those who may pair, not to readers", async () => {
    const reader = await connected(gateway, { scopes: write });
    const pairing = await connected(gateway, { scopes: ["operator.pairing"] });
    const device = createDevice();
    await askToPair(gateway, device, { scopes: read });
    await pairing.frame((f) => f.event === "device.pair.requested" && f.payload.deviceId === device.id);
    await reader.request("h", "health");
    expect(reader.frames.filter((f) => f.event?.startsWith("device."))).toEqual([]);
    await Promise.all([reader.close(), pairing.close()]);
  });
});

describe("the gateway itself", () => {
  test("has an Ed25519 identity that stays over a restart", async () => {
    const one = await gatewayWithProxy();
    const identity = await one.rpc<{ deviceId: string; publicKey: string }>("gateway.identity.get");
    expect(identity).toEqual({ deviceId: expect.stringMatching(/^[0-9a-f]{64}$/), publicKey: expect.stringMatching(/^[\w-]{43}$/) });
    expect(await Promise.all([one.rpc("gateway.identity.get"), one.rpc("gateway.identity.get")])).toEqual([identity, identity]);
    await one.close({ keepState: true });
    const two = await gatewayWithProxy({ stateDir: one.stateDir });
    expect(await two.rpc("gateway.identity.get")).toEqual(identity);
    await two.close();
  });
});

describe("without the plugin that keeps the state", () => {
  test("shared secrets open, devices and their methods are unavailable", async () => {
    const bare = await gatewayWithProxy({ plugins: ["devices"] });
    try {
      const operator = await connectDevice(bare, createDevice(), { scopes: ["operator.admin"] });
      expect(operator.hello.auth).toEqual({ role: "operator", scopes: ["operator.admin"] });
      const calls: Array<[string, object]> = [
        ["device.pair.list", {}],
        ["device.pair.rename", { deviceId: "x", label: "y" }],
        ["device.pair.remove", { deviceId: "x" }],
        ["device.token.rotate", { deviceId: "x", role: "node" }],
        ["device.token.revoke", { deviceId: "x", role: "node" }],
        ["gateway.identity.get", {}],
      ];
      for (const [method, params] of calls)
        expect((await operator.request(method, method, params)).error).toMatchObject({ code: "UNAVAILABLE", retryable: true });
      for (const auth of [{ token: bare.token }, { deviceToken: "x" }]) {
        const socket = await dial(bare, far());
        expect((await socket.connect(createDevice(), { auth, scopes: [] })).error).toMatchObject({ code: "UNAVAILABLE", retryable: true });
      }
      await operator.close();
    } finally {
      await bare.close();
    }
  });
});

test("paired devices and their tokens survive a restart; what waited does not", async () => {
  const one = await gatewayWithProxy();
  const [device, waiting] = [createDevice(), createDevice()];
  const { deviceToken } = (await pairFar(one, device, { scopes: read })).hello.auth;
  await askToPair(one, waiting, { scopes: read });
  await one.close({ keepState: true });
  const two = await gatewayWithProxy({ stateDir: one.stateDir });
  const socket = await connectDevice(two, device, { auth: { deviceToken }, scopes: read, headers: far() });
  expect(socket.hello.auth).toMatchObject({ scopes: read, deviceToken });
  expect(await two.rpc("device.pair.list")).toMatchObject({ pending: [] });
  await socket.close();
  await two.close();
});

test("no token is kept, logged or told to others in plain text", async () => {
  const one = await createTestGateway({ plugins: ["store", "devices"] });
  const socket = await connectDevice(one, createDevice(), { scopes: allScopes });
  const { deviceToken } = socket.hello.auth;
  const answers = [await one.rpc("device.pair.list"), await one.rpc("system-presence"), await one.rpc("health"), one.logs];
  expect(JSON.stringify(answers)).not.toContain(deviceToken);
  await socket.close();
  await one.close();
});
