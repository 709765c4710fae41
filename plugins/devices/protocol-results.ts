import { z } from "svc/sdk";

/** Milliseconds since the Unix epoch. */
export const epochMs = z.number().int().min(0);
const scopes = z.array(z.string().min(1));
const text = z.string();
const requestId = text.min(1);
const deviceId = text.min(1);
const role = z.enum(["operator", "node"]);

/** A device that asks to be let in. */
export const pendingDevice = z
  .object({
    requestId,
    deviceId,
    publicKey: text,
    displayName: text.exactOptional(),
    platform: text.exactOptional(),
    deviceFamily: text.exactOptional(),
    clientId: text,
    clientMode: text,
    role,
    roles: z.array(role),
    scopes,
    remoteIp: text.exactOptional(),
    silent: z.boolean(),
    isRepair: z.boolean().describe("it was paired before"),
    ts: epochMs,
  })
  .meta({ id: "PendingDevice" });

const token = z.object({ role, scopes, createdAtMs: epochMs, revokedAtMs: epochMs.exactOptional() });

/** A device that was let in; values of its tokens are never told. */
const pairedDevice = z
  .object({
    deviceId,
    publicKey: text,
    displayName: text.exactOptional(),
    label: text.exactOptional().describe("given by `device.pair.rename`"),
    platform: text.exactOptional(),
    deviceFamily: text.exactOptional(),
    clientId: text.exactOptional(),
    clientMode: text.exactOptional(),
    role: role.exactOptional().describe("the first of `roles`"),
    roles: z.array(role).exactOptional(),
    scopes: scopes.exactOptional(),
    approvedVia: z.enum(["silent", "owner"]),
    createdAtMs: epochMs,
    approvedAtMs: epochMs,
    lastSeenAtMs: epochMs.exactOptional(),
    connected: z.boolean(),
    tokens: z.array(token),
  })
  .meta({ id: "PairedDevice" });

/** Payloads of the answers of these methods; for documents, types and tests: the running plugin never loads them. */
export const devicesResults = {
  "device.pair.list": z.object({ pending: z.array(pendingDevice), paired: z.array(pairedDevice) }),
  "device.pair.approve": z.object({ requestId, device: pairedDevice }),
  "device.pair.reject": z.object({ requestId, deviceId }),
  "device.pair.invite": z.object({
    requestId: requestId.describe("`device.pair.resolved` names it when a device has come in by this invitation"),
    bootstrapToken: text.describe("for `auth.bootstrapToken` of that device"),
    expiresAtMs: epochMs,
    scopes,
  }),
  "device.pair.uninvite": z.object({ requestId }),
  "device.pair.remove": z.object({ deviceId }),
  "device.pair.rename": z.object({ deviceId, label: text }),
  "device.token.rotate": z.object({
    deviceId,
    role,
    scopes,
    rotatedAtMs: epochMs,
    token: text.exactOptional().describe("only to that very device"),
    tokenDelivery: z.literal("withheld-cross-device").exactOptional(),
  }),
  "device.token.revoke": z.object({ deviceId, role, revokedAtMs: epochMs }),
};
