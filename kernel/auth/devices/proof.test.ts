import { createHash, createPrivateKey, generateKeyPairSync, sign } from "node:crypto";
import { describe, expect, test } from "vitest";
import { deviceProofText } from "../../../sdk/protocol/device.ts";
import type { ConnectParams } from "../../../sdk/protocol/frames.ts";
import { verifyDeviceProof } from "./proof.ts";

type Proved = Parameters<typeof verifyDeviceProof>[0];

const context = { nonce: "0f6d1c1e-1111-4222-8333-444455556666", now: 1_767_225_600_000 };
/** The test vector of the protocol document. */
const vector = (): Proved => ({
  minProtocol: 4,
  maxProtocol: 4,
  client: { id: "cli", mode: "cli", version: "0.3.1", platform: "linux", deviceFamily: "Server" },
  role: "operator",
  scopes: ["operator.read", "operator.write"],
  auth: { token: "s3cret-token" },
  device: {
    id: "56475aa75463474c0285df5dbf2bcab73da651358839e9b77481b2eab107708c",
    publicKey: "A6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg",
    signature: "S_E9DShDySeSunlwsQ-LlGQcImdz7nEi0stw1J2Hb5ZbTx18d2km4v2fVudXECU2uBboqKbvgfJsiMBQX6ToCg",
    signedAt: context.now,
    nonce: context.nonce,
  },
});
const other = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" }).x as string;

describe("the test vector", () => {
  test("verifies", () => {
    expect(verifyDeviceProof(vector(), context)).toBe("56475aa75463474c0285df5dbf2bcab73da651358839e9b77481b2eab107708c");
  });

  test("verifies with the platform in capitals and the role left out, which mean the same", () => {
    const same = vector();
    same.client = { ...same.client, platform: " LINUX ", deviceFamily: "server" };
    delete (same as Partial<ConnectParams>).role;
    expect(verifyDeviceProof(same, context)).toBe(same.device.id);
  });

  const signature = ["DEVICE_AUTH_SIGNATURE_INVALID", "device signature invalid", "device-signature"];
  test.each<[string, (p: Proved) => void, string[]]>([
    [
      "another id",
      (p) => void Object.assign(p.device, { id: "00" }),
      ["DEVICE_AUTH_DEVICE_ID_MISMATCH", "device identity mismatch", "device-id-mismatch"],
    ],
    [
      "another key",
      (p) => void Object.assign(p.device, { publicKey: other }),
      ["DEVICE_AUTH_DEVICE_ID_MISMATCH", "device identity mismatch", "device-id-mismatch"],
    ],
    [
      "an id in capitals",
      (p) => void Object.assign(p.device, { id: p.device.id.toUpperCase() }),
      ["DEVICE_AUTH_DEVICE_ID_MISMATCH", "device identity mismatch", "device-id-mismatch"],
    ],
    [
      "a key that is none",
      (p) => void Object.assign(p.device, { publicKey: "AAAA" }),
      ["DEVICE_AUTH_PUBLIC_KEY_INVALID", "device public key invalid", "device-public-key"],
    ],
    [
      "a key with padding",
      (p) => void Object.assign(p.device, { publicKey: `${p.device.publicKey}=` }),
      ["DEVICE_AUTH_PUBLIC_KEY_INVALID", "device public key invalid", "device-public-key"],
    ],
    [
      "a time 120,001 ms ago",
      (p) => void Object.assign(p.device, { signedAt: p.device.signedAt - 120_001 }),
      ["DEVICE_AUTH_SIGNATURE_EXPIRED", "device signature expired", "device-signature-stale"],
    ],
    [
      "a time 120,001 ms ahead",
      (p) => void Object.assign(p.device, { signedAt: p.device.signedAt + 120_001 }),
      ["DEVICE_AUTH_SIGNATURE_EXPIRED", "device signature expired", "device-signature-stale"],
    ],
    [
      "no nonce",
      (p) => void Object.assign(p.device, { nonce: "" }),
      ["DEVICE_AUTH_NONCE_REQUIRED", "device nonce required", "device-nonce-missing"],
    ],
    [
      "the nonce of another socket",
      (p) => void Object.assign(p.device, { nonce: "x" }),
      ["DEVICE_AUTH_NONCE_MISMATCH", "device nonce mismatch", "device-nonce-mismatch"],
    ],
    ["another signature", (p) => void Object.assign(p.device, { signature: `A${p.device.signature.slice(1)}` }), signature],
    ["a signature that is none", (p) => void Object.assign(p.device, { signature: "x" }), signature],
    [
      "a time within the tolerance that was not signed",
      (p) => void Object.assign(p.device, { signedAt: p.device.signedAt - 120_000 }),
      signature,
    ],
    ["another client", (p) => void Object.assign(p.client, { id: "gateway-client" }), signature],
    ["another mode", (p) => void Object.assign(p.client, { mode: "backend" }), signature],
    ["another role", (p) => void Object.assign(p, { role: "node" }), signature],
    ["one scope more", (p) => void p.scopes?.push("operator.admin"), signature],
    ["scopes in another order", (p) => void p.scopes?.reverse(), signature],
    ["another token", (p) => void Object.assign(p, { auth: { token: "other" } }), signature],
    ["another platform", (p) => void Object.assign(p.client, { platform: "darwin" }), signature],
    ["another family", (p) => void Object.assign(p.client, { deviceFamily: "phone" }), signature],
  ])("fails with %s", (_, spoil, [code, message, reason]) => {
    const spoiled = vector();
    spoil(spoiled);
    expect(() => verifyDeviceProof(spoiled, context)).toThrow(
      expect.objectContaining({ code: "device-auth", message, details: { code, reason } }),
    );
  });

  test("is judged in the documented order when everything is wrong", () => {
    const all = vector();
    all.device = { id: "0", publicKey: other, signature: "x", signedAt: 0, nonce: "" };
    const codes: unknown[] = [];
    const mend: Array<() => void> = [
      () => void Object.assign(all.device, { id: createHash("sha256").update(Buffer.from(other, "base64url")).digest("hex") }),
      () => void Object.assign(all.device, { signedAt: context.now }),
      () => void Object.assign(all.device, { nonce: "x" }),
      () => void Object.assign(all.device, { nonce: context.nonce }),
    ];
    for (const next of [...mend, () => undefined]) {
      expect(() => verifyDeviceProof(all, context)).toThrow(
        expect.objectContaining({ details: expect.toSatisfy((details: { code: string }) => codes.push(details.code) > 0) }),
      );
      next();
    }
    const order = [
      "DEVICE_AUTH_DEVICE_ID_MISMATCH",
      "DEVICE_AUTH_SIGNATURE_EXPIRED",
      "DEVICE_AUTH_NONCE_REQUIRED",
      "DEVICE_AUTH_NONCE_MISMATCH",
      "DEVICE_AUTH_SIGNATURE_INVALID",
    ];
    expect([...new Set(codes)]).toEqual(order);
  });
});

test("the older text without platform and family is accepted too", () => {
  const old = vector();
  const head = Buffer.from("302e020100300506032b657004220420", "hex");
  const seed = Buffer.from([...Array(32).keys()]);
  const key = createPrivateKey({ key: Buffer.concat([head, seed]), format: "der", type: "pkcs8" });
  const text = deviceProofText(2, { deviceId: old.device.id, connect: old, signedAt: context.now, nonce: context.nonce });
  old.device.signature = sign(null, Buffer.from(text), key).toString("base64url");
  old.client.platform = "whatever";

  expect(verifyDeviceProof(old, context)).toBe(old.device.id);
});
