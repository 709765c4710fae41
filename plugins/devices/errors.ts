import { defineErrors } from "svc/sdk";

/** Codes of this plugin. */
export const deviceErrors = defineErrors({
  "unknown-request": { message: "unknown requestId", http: 404, rpc: "INVALID_REQUEST", details: "UNKNOWN_REQUEST_ID" },
  "unknown-device": { message: "unknown deviceId", http: 404, rpc: "INVALID_REQUEST", details: "UNKNOWN_DEVICE_ID" },
  "unknown-device-role": {
    message: "the device was not approved as {role}",
    http: 404,
    rpc: "INVALID_REQUEST",
    details: "UNKNOWN_DEVICE_ROLE",
    expose: { role: { type: "string" } },
  },
  "device-scopes": {
    message: "scopes of a device token can only shrink; it does not hold {wider}",
    http: 400,
    rpc: "INVALID_REQUEST",
    details: "SCOPES_EXCEED_TOKEN",
  },
  "device-not-own": {
    message: "without operator.admin a device may manage only itself",
    http: 403,
    rpc: "FORBIDDEN",
    details: "DEVICE_NOT_OWN",
  },
  "device-limit": {
    message: "{limit} devices are paired, which is the limit; remove one with device.pair.remove",
    http: 409,
    rpc: "INVALID_REQUEST",
    details: "DEVICE_LIMIT",
  },
});
