import { z } from "zod";
import { allScopes } from "../../scopes.ts";
import { idExpectation, idPattern } from "../../text/id-text.ts";
import { idText, none } from "./fields.ts";
import { method } from "./spec.ts";

const requestId = idText(128);
const deviceId = idText(128);
const role = z.enum(["operator", "node"]);

/** Devices: who waits to be paired, who is, and their tokens. */
export const devicesMethods = {
  "device.pair.list": method("pairing", "devices waiting for approval, and paired devices", none),
  "device.pair.approve": method(
    "pairing",
    "approves a waiting device; grants only scopes that the caller holds itself",
    z.strictObject({ requestId }),
  ),
  "device.pair.reject": method("pairing", "rejects a waiting device", z.strictObject({ requestId })),
  "device.pair.remove": method("pairing", "removes a paired device and closes its connections", z.strictObject({ deviceId })),
  "device.pair.rename": method(
    "pairing",
    "renames a paired device",
    z.strictObject({ deviceId, label: z.string().trim().min(1).max(64).regex(idPattern, idExpectation) }),
  ),
  "device.token.rotate": method(
    "pairing",
    "a new token for a role of a device, with no more scopes than before; shown only to that device",
    z.strictObject({ deviceId, role, scopes: z.array(z.enum(allScopes)).max(16).optional() }),
  ),
  "device.token.revoke": method(
    "pairing",
    "revokes the token of a role of a device, and closes its connections",
    z.strictObject({ deviceId, role }),
  ),
  "gateway.identity.get": method("read", "device id and public key of the gateway itself", none),
} as const;
