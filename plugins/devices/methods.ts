import { type ClientInfo, methodOf, type PluginContext } from "svc/sdk";
import { hasScope, sharedErrors } from "svc/sdk/internal";
import type { DeviceRegistry } from "./device-registry.ts";
import { deviceErrors } from "./errors.ts";
import { INVITATION_TTL_MS } from "./invitations.ts";
import { devicesMethods } from "./protocol-methods.ts";
import { type DeviceRecord, toPairedDevice } from "./record.ts";

/** `device.*`: who is paired and who waits for it, and their tokens. */
export function registerDeviceMethods(ctx: PluginContext, registry: DeviceRegistry): void {
  registerPairing(ctx, registry);
  registerInvitations(ctx, registry);
  registerTokens(ctx, registry);
}

function registerPairing(ctx: PluginContext, registry: DeviceRegistry): void {
  const gateway = ctx.service("gateway@1");
  const shown = (record: DeviceRecord, connected = connectedDevices(gateway.clients())) => {
    const isHere = connected.has(record.deviceId);
    return toPairedDevice(isHere ? { ...record, lastSeenAtMs: ctx.clock.now() } : record, isHere);
  };
  ctx.registerRpc({
    ...methodOf(devicesMethods, "device.pair.list"),
    handler: async (_params, { client }) => {
      const connected = connectedDevices(gateway.clients());
      const paired = (await registry.list()).filter(({ deviceId }) => mayManage(client, deviceId));
      const pending = registry.pending.list().filter(({ deviceId }) => mayManage(client, deviceId));
      return { pending, paired: paired.map((record) => shown(record, connected)) };
    },
  });
  ctx.registerRpc({
    ...methodOf(devicesMethods, "device.pair.approve"),
    handler: async ({ requestId }, { client }) => {
      const waiting = registry.pending.get(requestId);
      requireOwn(client, waiting.deviceId);
      const missing = waiting.scopes.find((scope) => !hasScope(client.scopes, scope));
      if (missing) throw sharedErrors.missingScope({ missingScope: missing, requiredScopes: waiting.scopes });
      return { requestId, device: shown(await registry.approve(requestId)) };
    },
  });
  ctx.registerRpc({
    ...methodOf(devicesMethods, "device.pair.reject"),
    handler: ({ requestId }, { client }) => {
      const { deviceId } = registry.pending.get(requestId);
      requireOwn(client, deviceId);
      registry.reject(requestId);
      return { requestId, deviceId };
    },
  });
  ctx.registerRpc({
    ...methodOf(devicesMethods, "device.pair.remove"),
    handler: async ({ deviceId }, { client }) => {
      requireOwn(client, deviceId);
      await registry.remove(deviceId);
      return { deviceId };
    },
  });
  ctx.registerRpc({
    ...methodOf(devicesMethods, "device.pair.rename"),
    handler: async ({ deviceId, label }, { client }) => {
      requireOwn(client, deviceId);
      await registry.rename(deviceId, label);
      return { deviceId, label };
    },
  });
}

function registerInvitations(ctx: PluginContext, { invitations }: DeviceRegistry): void {
  const gateway = ctx.service("gateway@1");
  ctx.registerRpc({
    ...methodOf(devicesMethods, "device.pair.invite"),
    handler: (_params, { client }) => {
      requireOthers(client);
      const isHere = () => [...gateway.clients()].some(({ connId }) => connId === client.connId);
      const { requestId, token, scopes } = invitations.make({ scopes: client.scopes, isHere });
      return { requestId, bootstrapToken: token, expiresAtMs: ctx.clock.now() + INVITATION_TTL_MS, scopes: [...scopes] };
    },
  });
  ctx.registerRpc({
    ...methodOf(devicesMethods, "device.pair.uninvite"),
    handler: ({ requestId }, { client }) => {
      requireOthers(client);
      if (!invitations.withdraw(requestId)) throw deviceErrors.unknownRequest();
      return { requestId };
    },
  });
}

function registerTokens(ctx: PluginContext, registry: DeviceRegistry): void {
  ctx.registerRpc({
    ...methodOf(devicesMethods, "device.token.rotate"),
    handler: async ({ deviceId, role, scopes }, { client }) => {
      requireOwn(client, deviceId);
      const { token, ...rotated } = await registry.rotate(deviceId, role, scopes);
      const delivery = client.deviceId === deviceId ? { token } : { tokenDelivery: "withheld-cross-device" };
      return { deviceId, role, ...rotated, ...delivery };
    },
  });
  ctx.registerRpc({
    ...methodOf(devicesMethods, "device.token.revoke"),
    handler: async ({ deviceId, role }, { client }) => {
      requireOwn(client, deviceId);
      return { deviceId, role, ...(await registry.revoke(deviceId, role)) };
    },
  });
}

function connectedDevices(clients: Iterable<ClientInfo>): Set<string> {
  return new Set([...clients].flatMap(({ deviceId }) => deviceId ?? []));
}

/** A device, and a user whom a proxy or a plugin names, needs `operator.admin` for others than itself; whoever came without either holds the gateway's secret. */
function mayManageOthers({ deviceId: own, identity, scopes }: ClientInfo): boolean {
  return (own === undefined && identity === undefined) || hasScope(scopes, "operator.admin");
}

function mayManage(client: ClientInfo, deviceId: string): boolean {
  return client.deviceId === deviceId || mayManageOthers(client);
}

function requireOthers(client: ClientInfo): void {
  if (!mayManageOthers(client)) throw deviceErrors.deviceNotOwn();
}

function requireOwn(client: ClientInfo, deviceId: string): void {
  if (!mayManage(client, deviceId)) throw deviceErrors.deviceNotOwn();
}
