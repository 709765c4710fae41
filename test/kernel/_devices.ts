import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { createTestGateway, type TestGateway, type TestGatewayOptions } from "svc/sdk/testing";
import { deviceProofText } from "../../sdk/protocol/device.ts";
import { type BareSocket, challenged, connectParams, type Frame } from "./_ws.ts";

/** A device with a key of its own. */
export interface TestDevice {
  readonly id: string;
  readonly publicKey: string;
  sign(text: string): string;
}

export function createDevice(privateKey: KeyObject = generateKeyPairSync("ed25519").privateKey): TestDevice {
  const publicKey = String(privateKey.export({ format: "jwk" }).x);
  return {
    id: createHash("sha256").update(Buffer.from(publicKey, "base64url")).digest("hex"),
    publicKey,
    sign: (text) => sign(null, Buffer.from(text), privateKey).toString("base64url"),
  };
}

/** A gateway that believes a proxy on this machine, so that a client can come from far away; it keeps its devices in the state database. */
export function gatewayWithProxy(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const { gateway, ...config } = options.config ?? {};
  return createTestGateway({
    plugins: ["store", "devices"],
    ...options,
    config: { ...config, gateway: { trustedProxies: ["127.0.0.1"], ...gateway } },
  });
}

/** Headers of a client elsewhere, as the proxy passes them on. */
export const far = (address = "203.0.113.9") => ({ "x-forwarded-for": address });

type Connect = ReturnType<typeof connectParams>;
/** Where to connect, and the secret there. */
type Target = Pick<TestGateway, "wsUrl" | "token">;

/** A socket that was challenged, and the way to answer with a device. */
export interface DeviceSocket extends BareSocket {
  readonly nonce: string;
  /** Params of a `connect` that the device has signed; `spoil` changes them after that. */
  signed(device: TestDevice, change?: Connect, spoil?: (params: Frame) => void): Connect;
  /** The answer to such a `connect`. */
  connect(device: TestDevice, change?: Connect, spoil?: (params: Frame) => void): Promise<Frame>;
}

export async function dial(gateway: Target, headers: Record<string, string> = {}): Promise<DeviceSocket> {
  const socket = await challenged(gateway, headers);
  const { nonce, ts } = socket.frames[0].payload;
  const signed: DeviceSocket["signed"] = (device, change = {}, spoil = () => undefined) => {
    const params: Frame = structuredClone(connectParams(gateway.token, change));
    const claim = { deviceId: device.id, connect: params, signedAt: ts, nonce };
    params.device = { id: device.id, publicKey: device.publicKey, signature: device.sign(deviceProofText(3, claim)), signedAt: ts, nonce };
    spoil(params);
    return params;
  };
  const connect: DeviceSocket["connect"] = (...given) => socket.request("connect", "connect", signed(...given));
  return Object.assign(socket, { nonce, signed, connect });
}

/** Connects a device; the hello on success. @throws {Error} with the message of the refusal */
export async function connectDevice(
  gateway: Target,
  device: TestDevice,
  { headers = {}, ...change }: Connect & { headers?: Record<string, string> } = {},
): Promise<DeviceSocket & { hello: Frame }> {
  const socket = await dial(gateway, headers);
  const res = await socket.connect(device, change);
  if (!res.ok) throw new Error(res.error.message);
  return Object.assign(socket, { hello: res.payload });
}

/** A far connect that has to wait for approval; its request id. */
export async function askToPair(gateway: Target, device: TestDevice, change: Connect = {}): Promise<string> {
  const socket = await dial(gateway, far());
  const res = await socket.connect(device, change);
  await socket.end();
  return res.error.details.requestId;
}

/** Pairs a far device by approval of an operator; its first hello. The socket stays open. */
export async function pairFar(gateway: TestGateway, device: TestDevice, change: Connect = {}): Promise<DeviceSocket & { hello: Frame }> {
  await gateway.rpc("device.pair.approve", { requestId: await askToPair(gateway, device, change) });
  return connectDevice(gateway, device, { ...change, headers: far() });
}
