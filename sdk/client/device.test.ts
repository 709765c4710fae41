import { createHash, createPrivateKey, createPublicKey, verify } from "node:crypto";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { helloOk, type Script, startScriptedGateway } from "../../test/fakes/scripted-gateway.ts";
import { deviceProofText } from "../protocol/device.ts";
import type { ConnectParams } from "../protocol/frames.ts";
import type { ClientDevice } from "./device.ts";
import { proveDevice } from "./device.ts";
import { createClient } from "./index.ts";
import { createNodeDevice, toDeviceKey } from "./node-device.ts";
import type { ClientOptions, ClientState, SvcClient } from "./types.ts";

let folder: string;
const cleanups: Array<() => Promise<unknown>> = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-device-"));
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  await rm(folder, { recursive: true, force: true });
});

/** RFC 8410: the seed behind a fixed PKCS #8 head. */
function keyOfSeed(seed: Buffer) {
  const head = Buffer.from("302e020100300506032b657004220420", "hex");
  return createPrivateKey({ key: Buffer.concat([head, seed]), format: "der", type: "pkcs8" });
}

describe("the test vector of the protocol", () => {
  const key = toDeviceKey(keyOfSeed(Buffer.from([...Array(32).keys()])));
  const connect = {
    client: { id: "cli", mode: "cli", version: "0.3.1", platform: "linux", deviceFamily: "Server" },
    scopes: ["operator.read", "operator.write"],
    auth: { token: "s3cret-token" },
  } as const;

  it("gives its key, id and signature", async () => {
    expect(key.publicKey).toBe("A6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg");
    expect(key.id).toBe("56475aa75463474c0285df5dbf2bcab73da651358839e9b77481b2eab107708c");
    const challenge = { nonce: "0f6d1c1e-1111-4222-8333-444455556666", signedAt: 1_767_225_600_000 };
    const proof = await proveDevice(key, connect as unknown as ConnectParams, challenge);
    expect(proof).toEqual({
      id: key.id,
      publicKey: key.publicKey,
      signature: "S_E9DShDySeSunlwsQ-LlGQcImdz7nEi0stw1J2Hb5ZbTx18d2km4v2fVudXECU2uBboqKbvgfJsiMBQX6ToCg",
      signedAt: challenge.signedAt,
      nonce: challenge.nonce,
    });
  });

  it("is the text with platform and family in small letters, or without them in version 2", () => {
    const claim = { deviceId: "id", connect: { ...connect, role: "operator" } as unknown as ConnectParams, signedAt: 5, nonce: "n" };
    expect(deviceProofText(3, claim)).toBe("v3|id|cli|cli|operator|operator.read,operator.write|5|s3cret-token|n|linux|server");
    expect(deviceProofText(2, claim)).toBe("v2|id|cli|cli|operator|operator.read,operator.write|5|s3cret-token|n");
  });
});

describe("the identity file", () => {
  const gateway = "ws://192.0.2.1:18789";
  const path = () => join(folder, "identity", "device.json");

  it("keeps one key for good, for its owner's eyes only", async () => {
    const first = await createNodeDevice({ path: path(), gateway }).key();
    const again = await createNodeDevice({ path: path(), gateway }).key();
    expect(again).toMatchObject({ id: first?.id, publicKey: first?.publicKey });
    expect(first?.id).toBe(
      createHash("sha256")
        .update(Buffer.from(first?.publicKey ?? "", "base64url"))
        .digest("hex"),
    );
    expect((await stat(path())).mode & 0o777).toBe(0o600);
    const publicKey = createPublicKey(JSON.parse(await readFile(path(), "utf8")).privateKey);
    expect(verify(null, Buffer.from("text"), publicKey, Buffer.from((await first?.sign("text")) ?? "", "base64url"))).toBe(true);
  });

  it("is not made by whoever only looks", async () => {
    const device = createNodeDevice({ path: path(), gateway, create: false });
    expect(await device.key()).toBeUndefined();
    expect(await device.token()).toBeUndefined();
    await expect(stat(path())).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("keeps a token for the gateway that gave it, and for no other", async () => {
    const here = createNodeDevice({ path: path(), gateway });
    await here.key();
    await here.keepToken("t-1");
    expect(await createNodeDevice({ path: path(), gateway }).token()).toBe("t-1");
    expect(await createNodeDevice({ path: path(), gateway: "ws://192.0.2.2:18789" }).token()).toBeUndefined();
    expect(await createNodeDevice({ path: path(), gateway: "constructor" }).token()).toBeUndefined();
    await here.forgetToken();
    expect(await createNodeDevice({ path: path(), gateway }).token()).toBeUndefined();
  });

  it("forgets the oldest of more than a hundred gateways", async () => {
    await createNodeDevice({ path: path(), gateway: "0" }).key();
    for (let i = 0; i <= 100; i++) await createNodeDevice({ path: path(), gateway: `ws://${i}` }).keepToken(`t-${i}`);
    expect(await createNodeDevice({ path: path(), gateway: "ws://0" }).token()).toBeUndefined();
    expect(await createNodeDevice({ path: path(), gateway: "ws://1" }).token()).toBe("t-1");
  });

  it("is never replaced when it is damaged", async () => {
    await createNodeDevice({ path: path(), gateway }).key();
    await writeFile(path(), '{"version":1');
    await expect(createNodeDevice({ path: path(), gateway }).key()).rejects.toThrow(/damaged; restore it, or delete it/);
    expect(await readFile(path(), "utf8")).toBe('{"version":1');
  });
});

describe("a client with a device", () => {
  /** A key without a file, and one token. */
  function memoryDevice(token?: string): ClientDevice & { kept: string | undefined } {
    const key = toDeviceKey(keyOfSeed(Buffer.alloc(32, 7)));
    return {
      kept: token,
      key: async () => key,
      async token() {
        return this.kept;
      },
      async keepToken(next) {
        this.kept = next;
      },
      async forgetToken() {
        this.kept = undefined;
      },
    };
  }

  async function setup(script: Script, options: Partial<ClientOptions>) {
    const gw = await startScriptedGateway(script);
    const c: SvcClient = createClient({ url: gw.url, ...options });
    cleanups.push(
      () => gw.close(),
      () => c.close(),
    );
    return { gw, c };
  }

  const mismatch = (code: string) => ({ code: "INVALID_REQUEST", message: "unauthorized", details: { code } });
  const sent = (peer: { connect: Record<string, unknown> }) => peer.connect.auth;

  it("proves itself for this socket at the gateway's time, and keeps the token it gets", async () => {
    const device = memoryDevice();
    const granted = helloOk();
    const auth = { ...(granted.auth as object), deviceToken: "fresh", issuedAtMs: 1 };
    const { gw, c } = await setup(
      { onConnect: (peer, id) => peer.answer(id, { ...granted, auth }) },
      { device, auth: { token: "shared" } },
    );
    await c.connect();
    const { device: proof, ...connect } = (await gw.peer(1)).connect as unknown as ConnectParams;
    const text = deviceProofText(3, {
      deviceId: proof?.id ?? "",
      connect: connect as ConnectParams,
      signedAt: proof?.signedAt ?? 0,
      nonce: proof?.nonce ?? "",
    });
    const x = proof?.publicKey ?? "";
    const publicKey = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
    expect(verify(null, Buffer.from(text), publicKey, Buffer.from(proof?.signature ?? "", "base64url"))).toBe(true);
    expect(connect.auth).toEqual({ token: "shared" });
    await expect.poll(() => device.kept).toBe("fresh");
  });

  it("shows its token instead of the shared secret", async () => {
    const { gw, c } = await setup({}, { device: memoryDevice("mine"), auth: { token: "shared" } });
    await c.connect();
    expect(sent(await gw.peer(1))).toEqual({ deviceToken: "mine" });
  });

  it("forgets a refused token and tries the shared secret once, then stays refused", async () => {
    const device = memoryDevice("old");
    const script: Script = {
      onConnect: (peer, id) => {
        const { deviceToken } = peer.connect.auth as { deviceToken?: string };
        peer.fail(id, mismatch(deviceToken ? "AUTH_DEVICE_TOKEN_MISMATCH" : "AUTH_TOKEN_MISMATCH"));
      },
    };
    const { gw, c } = await setup(script, { device, auth: { token: "shared" } });
    await expect(c.connect()).rejects.toMatchObject({ details: { code: "AUTH_TOKEN_MISMATCH" } });
    expect(gw.peers.map(sent)).toEqual([{ deviceToken: "old" }, { token: "shared" }]);
    expect(device.kept).toBeUndefined();
    expect(c.state.state).toBe("refused");
  });

  it("keeps a token that is only too narrow, and asks with the shared secret", async () => {
    const device = memoryDevice("narrow");
    const script: Script = {
      onConnect: (peer, id, count) => (count === 1 ? peer.fail(id, mismatch("AUTH_SCOPE_MISMATCH")) : peer.answer(id, helloOk())),
    };
    const { gw, c } = await setup(script, { device, auth: { token: "shared" } });
    await c.connect();
    expect(gw.peers.map(sent)).toEqual([{ deviceToken: "narrow" }, { token: "shared" }]);
    expect(device.kept).toBe("narrow");
  });

  it("without a secret to fall back on says that its token was refused", async () => {
    const { gw, c } = await setup(
      { onConnect: (peer, id) => peer.fail(id, mismatch("AUTH_DEVICE_TOKEN_MISMATCH")) },
      { device: memoryDevice("old"), reconnect: false },
    );
    await expect(c.connect()).rejects.toMatchObject({ details: { code: "AUTH_DEVICE_TOKEN_MISMATCH" } });
    expect(gw.peers).toHaveLength(1);
  });

  it("waits for its approval instead of giving up, and says so", async () => {
    const script: Script = {
      onConnect: (peer, id) =>
        peer.fail(id, { code: "NOT_PAIRED", message: "pairing required", details: { code: "PAIRING_REQUIRED", requestId: "r-1" } }),
    };
    const states: ClientState[] = [];
    const { c } = await setup(script, { device: memoryDevice(), onState: (state) => states.push(state) });
    c.connect().catch(() => undefined);
    await expect.poll(() => states.at(-1)).toMatchObject({ state: "waiting", error: { details: { requestId: "r-1" } } });
  });

  it("keeps the token that it had rotated, and comes back with it when the old one's connection is closed", async () => {
    const device = memoryDevice("old");
    const script: Script = {
      onRequest: (peer, { id }) => {
        peer.answer(id, { deviceId: "d", role: "operator", scopes: [], rotatedAtMs: 1, token: "new" });
        peer.close(4001, "device token revoked");
      },
    };
    const { gw, c } = await setup(script, { device });
    await c.connect();
    await c.request("device.token.rotate", { deviceId: "d", role: "operator" });
    expect(sent(await gw.peer(2))).toEqual({ deviceToken: "new" });
    expect(device.kept).toBe("new");
  });

  it("has kept its token when it is closed, and the one that came last however long the first took", async () => {
    let store: () => void = () => undefined;
    const device = memoryDevice();
    const first = new Promise<void>((resolve) => {
      store = resolve;
    });
    const slow = {
      ...device,
      kept: [] as string[],
      async keepToken(token: string) {
        if (token === "first") await first;
        slow.kept.push(token);
      },
    };
    const hello = helloOk();
    const script: Script = {
      onConnect: (peer, id) => peer.answer(id, { ...hello, auth: { ...(hello.auth as object), deviceToken: "first", issuedAtMs: 1 } }),
      onRequest: (peer, { id }) => peer.answer(id, { deviceId: "d", role: "operator", scopes: [], rotatedAtMs: 1, token: "second" }),
    };
    const { c } = await setup(script, { device: slow });
    await c.connect();
    const rotated = c.request("device.token.rotate", { deviceId: "d", role: "operator" });
    setImmediate(store);
    await rotated;
    await c.close();
    expect(slow.kept).toEqual(["first", "second"]);
  });

  it("stays away when its token was revoked and nothing else is at hand", async () => {
    const script: Script = {
      onConnect: (peer, id) => {
        peer.answer(id, helloOk());
        peer.close(4001, "device token revoked");
      },
    };
    const states: ClientState[] = [];
    const { gw, c } = await setup(script, { device: memoryDevice("old"), onState: (state) => states.push(state) });
    await c.connect();
    await expect.poll(() => states.at(-1)).toMatchObject({ state: "refused", error: { details: { closeCode: 4001 } } });
    expect(gw.peers).toHaveLength(1);
  });

  it("that cannot sign ends the attempt with the reason", async () => {
    const device = { ...memoryDevice(), key: async () => ({ id: "x", publicKey: "y", sign: () => Promise.reject(new Error("key lost")) }) };
    const { c } = await setup({}, { device, reconnect: false });
    await expect(c.connect()).rejects.toMatchObject({
      code: "device-unusable",
      message: expect.stringMatching(/cannot prove itself: key lost/),
    });
  });
});
