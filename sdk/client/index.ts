import { SDK_API_VERSION } from "../define.ts";
import { createClientCore } from "./core.ts";
import { openNodeSocket } from "./node-socket.ts";
import type { ClientOptions, ClientPlatform, SvcClient } from "./types.ts";

export { backoffMs, reconnectDelayMs } from "./backoff.ts";
export type { ClientDevice, DeviceKey } from "./device.ts";
export { ClientError, type ErrorDetails, isClientError } from "./error.ts";
export { createNodeDevice, type NodeDeviceOptions } from "./node-device.ts";
export { MAX_PENDING } from "./pending.ts";
export type * from "./types.ts";

const node: ClientPlatform = {
  openSocket: openNodeSocket,
  identity: { id: "gateway-client", version: SDK_API_VERSION, platform: process.platform, mode: "backend" },
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimeout(fn, delayMs) {
    const timer = setTimeout(fn, delayMs);
    return () => clearTimeout(timer);
  },
  random: Math.random,
};

/**
 * A typed client of the gateway's control protocol for Node. Nothing happens before `connect()`.
 *
 * @example
 * const client = createClient({ url: "ws://127.0.0.1:18789", auth: { token } });
 * await client.connect();
 * await client.request("health", {});
 */
export function createClient(options: ClientOptions): SvcClient {
  return createClientCore(node, options);
}
