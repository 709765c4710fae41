import { protocolErrors } from "../../../sdk/protocol/errors.ts";
import type { ParamsOf, ProtocolMethod } from "../../../sdk/protocol/methods.ts";
import { hasScope } from "../../../sdk/scopes.ts";
import type { ClientInfo, RpcCall } from "../../../sdk/types/rpc.ts";
import type { DeviceRegistry } from "./device-registry.ts";
import type { GatewayIdentity } from "./gateway-identity.ts";
import { type DeviceRecord, toPairedDevice } from "./record.ts";

export interface DeviceMethodDeps {
  /** All connected clients. */
  clients(): Iterable<ClientInfo>;
  identity(): Promise<GatewayIdentity>;
  /** Epoch ms. */
  now(): number;
}

type DeviceMethod = Extract<ProtocolMethod, `device.${string}` | "gateway.identity.get">;
type Handlers = { [M in DeviceMethod]: (params: ParamsOf<M>, call: RpcCall) => Promise<object> };

/** Creates the handlers of the `device.*` methods and of `gateway.identity.get`. */
export function createDeviceMethods(registry: DeviceRegistry, deps: DeviceMethodDeps): Handlers {
  const shown = (record: DeviceRecord, connected = connectedDevices(deps.clients())) => {
    const isHere = connected.has(record.deviceId);
    return toPairedDevice(isHere ? { ...record, lastSeenAtMs: deps.now() } : record, isHere);
  };
  return {
    async "device.pair.list"(_params, { client }) {
      const connected = connectedDevices(deps.clients());
      const paired = (await registry.list()).filter(({ deviceId }) => mayManage(client, deviceId));
      const pending = registry.pending.list().filter(({ deviceId }) => mayManage(client, deviceId));
      return { pending, paired: paired.map((record) => shown(record, connected)) };
    },
    async "device.pair.approve"({ requestId }, { client }) {
      const waiting = registry.pending.get(requestId);
      requireOwn(client, waiting.deviceId);
      const missing = waiting.scopes.find((scope) => !hasScope(client.scopes, scope));
      if (missing) throw protocolErrors.missingScope({ missingScope: missing, requiredScopes: waiting.scopes });
      return { requestId, device: shown(await registry.approve(requestId)) };
    },
    async "device.pair.reject"({ requestId }, { client }) {
      const { deviceId } = registry.pending.get(requestId);
      requireOwn(client, deviceId);
      registry.reject(requestId);
      return { requestId, deviceId };
    },
    async "device.pair.remove"({ deviceId }, { client }) {
      requireOwn(client, deviceId);
      await registry.remove(deviceId);
      return { deviceId };
    },
    async "device.pair.rename"({ deviceId, label }, { client }) {
      requireOwn(client, deviceId);
      await registry.rename(deviceId, label);
      return { deviceId, label };
    },
    async "device.token.rotate"({ deviceId, role, scopes }, { client }) {
      requireOwn(client, deviceId);
      const { token, ...rotated } = await registry.rotate(deviceId, role, scopes);
      const delivery = client.deviceId === deviceId ? { token } : { tokenDelivery: "withheld-cross-device" };
      return { deviceId, role, ...rotated, ...delivery };
    },
    async "device.token.revoke"({ deviceId, role }, { client }) {
      requireOwn(client, deviceId);
      return { deviceId, role, ...(await registry.revoke(deviceId, role)) };
    },
    "gateway.identity.get": () => deps.identity(),
  };
}

function connectedDevices(clients: Iterable<ClientInfo>): Set<string> {
  return new Set([...clients].flatMap(({ deviceId }) => deviceId ?? []));
}

/** A device, and a user whom a proxy or a plugin names, needs `operator.admin` for others than itself; whoever came without either holds the gateway's secret. */
function mayManage({ deviceId: own, identity, scopes }: ClientInfo, deviceId: string): boolean {
  return own === deviceId || (own === undefined && identity === undefined) || hasScope(scopes, "operator.admin");
}

function requireOwn(client: ClientInfo, deviceId: string): void {
  if (!mayManage(client, deviceId)) throw protocolErrors.deviceNotOwn();
}
