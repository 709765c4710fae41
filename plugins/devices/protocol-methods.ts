import { methodSpec, z } from "svc/sdk";
import { allScopes, idExpectation, idPattern, idText } from "svc/sdk/internal";

const requestId = idText(128);
const deviceId = idText(128);
const role = z.enum(["operator", "node"]);

/** Methods of the protocol that this plugin serves: who waits to be paired, who is, and their tokens. */
export const devicesMethods = {
  "device.pair.list": methodSpec("pairing", "devices waiting for approval, and paired devices", z.strictObject({})),
  "device.pair.approve": methodSpec(
    "pairing",
    "approves a waiting device; grants only scopes that the caller holds itself",
    z.strictObject({ requestId }),
  ),
  "device.pair.reject": methodSpec("pairing", "rejects a waiting device", z.strictObject({ requestId })),
  "device.pair.invite": methodSpec(
    "pairing",
    "a token that pairs one new device without an approval, with the scopes of the caller at most: once, within five minutes, and while the asking connection lasts",
    z.strictObject({}),
  ),
  "device.pair.uninvite": methodSpec("pairing", "ends an invitation of a device before its time", z.strictObject({ requestId })),
  "device.pair.remove": methodSpec("pairing", "removes a paired device and closes its connections", z.strictObject({ deviceId })),
  "device.pair.rename": methodSpec(
    "pairing",
    "renames a paired device",
    z.strictObject({ deviceId, label: z.string().trim().min(1).max(64).regex(idPattern, idExpectation) }),
  ),
  "device.token.rotate": methodSpec(
    "pairing",
    "a new token for a role of a device, with no more scopes than before; shown only to that device",
    z.strictObject({ deviceId, role, scopes: z.array(z.enum(allScopes)).max(16).optional() }),
  ),
  "device.token.revoke": methodSpec(
    "pairing",
    "revokes the token of a role of a device, and closes its connections",
    z.strictObject({ deviceId, role }),
  ),
} as const;
