import { protocolMethod } from "../../../sdk/protocol/methods.ts";
import type { RpcMethod } from "../../../sdk/types/rpc.ts";
import type { DeviceRegistry } from "../../auth/devices/device-registry.ts";
import { createDeviceMethods, type DeviceMethodDeps } from "../../auth/devices/methods.ts";
import type { MethodRegistry } from "./registry.ts";

/** `device.*`: who is paired and who waits for it, and the gateway's own identity. */
export function registerDeviceMethods(methods: MethodRegistry, registry: DeviceRegistry, deps: DeviceMethodDeps): void {
  const handlers = createDeviceMethods(registry, deps);
  for (const row of [
    protocolMethod("device.pair.list"),
    protocolMethod("device.pair.approve"),
    protocolMethod("device.pair.reject"),
    protocolMethod("device.pair.remove"),
    protocolMethod("device.pair.rename"),
    protocolMethod("device.token.rotate"),
    protocolMethod("device.token.revoke"),
    protocolMethod("gateway.identity.get"),
  ]) {
    methods.add({ ...row, handler: handlers[row.method] } as RpcMethod, "kernel");
  }
}
