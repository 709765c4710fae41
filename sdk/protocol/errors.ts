import { defineErrors } from "../errors.ts";

/** Codes of the handshake and of single requests, as clients see them. */
export const protocolErrors = defineErrors({
  // handshake
  "invalid-connect": { message: "invalid connect params: {issues}", http: 400, rpc: "INVALID_REQUEST" },
  "first-not-connect": { message: "invalid handshake: first request must be connect", http: 400, rpc: "INVALID_REQUEST" },
  "protocol-mismatch": {
    message: "protocol mismatch",
    http: 400,
    rpc: "INVALID_REQUEST",
    details: "PROTOCOL_MISMATCH",
    expose: { clientMinProtocol: { type: "integer" }, clientMaxProtocol: { type: "integer" }, expectedProtocol: { type: "integer" } },
  },
  "invalid-role": { message: "invalid role", http: 400, rpc: "INVALID_REQUEST" },
  "origin-not-allowed": {
    message: "origin not allowed: {advice}",
    http: 403,
    rpc: "INVALID_REQUEST",
    details: "CONTROL_UI_ORIGIN_NOT_ALLOWED",
    expose: { reason: { type: "string" } },
  },
  "device-auth": { message: "{problem}", http: 401, rpc: "INVALID_REQUEST", expose: { reason: { type: "string" } } },
  "pairing-required": {
    message: "pairing required: device is not approved yet",
    http: 401,
    rpc: "NOT_PAIRED",
    details: "PAIRING_REQUIRED",
    expose: {
      reason: { type: "string" },
      requestId: { type: "string" },
      remediationHint: { type: "string" },
      deviceId: { type: "string" },
      requestedRole: { type: "string" },
      requestedScopes: { type: "array", items: { type: "string" } },
      approvedRoles: { type: "array", items: { type: "string" } },
      approvedScopes: { type: "array", items: { type: "string" } },
    },
  },
  "device-required": { message: "device identity required", http: 401, rpc: "NOT_PAIRED", details: "DEVICE_IDENTITY_REQUIRED" },

  // requests
  unauthorized: {
    message: "unauthorized: {reason}",
    http: 401,
    rpc: "INVALID_REQUEST",
    expose: { authReason: { type: "string" }, canRetryWithDeviceToken: { type: "boolean" }, recommendedNextStep: { type: "string" } },
  },
  "rate-limited": {
    message: "unauthorized: too many failed authentication attempts (retry later)",
    http: 429,
    rpc: "INVALID_REQUEST",
    details: "AUTH_RATE_LIMITED",
    expose: { authReason: { type: "string" }, canRetryWithDeviceToken: { type: "boolean" }, recommendedNextStep: { type: "string" } },
    retryable: true,
  },
  "misdirected-request": {
    message:
      'the host name "{host}" does not belong to this gateway; set gateway.publicOrigin to its https origin, or add its origin to gateway.controlUi.allowedOrigins',
    http: 421,
    rpc: "INVALID_REQUEST",
  },
  "proxy-attribution-required": {
    message: "forwarded headers from an address outside gateway.trustedProxies; list the proxy there",
    http: 403,
    rpc: "FORBIDDEN",
    details: "proxy_attribution_required",
    expose: { authReason: { type: "string" } },
  },
  "missing-scope": {
    message: "missing scope: {missingScope}",
    http: 403,
    rpc: "FORBIDDEN",
    details: "MISSING_SCOPE",
    expose: { missingScope: { type: "string" }, requiredScopes: { type: "array", items: { type: "string" } } },
  },
  "unknown-method": { message: "unknown method: {method}", http: 404, rpc: "INVALID_REQUEST" },
  "unauthorized-role": { message: "unauthorized role: {role}", http: 403, rpc: "INVALID_REQUEST" },
  "invalid-frame": { message: "invalid request frame: {reason}", http: 400, rpc: "INVALID_REQUEST" },
  "already-connected": { message: "connect was already answered on this socket", http: 400, rpc: "INVALID_REQUEST" },
  blocked: {
    message: "{reason} (refused by plugin {plugin})",
    http: 403,
    rpc: "FORBIDDEN",
    details: "BLOCKED",
    expose: { plugin: { type: "string" } },
  },
  draining: {
    message: "the gateway is stopping; try again after the restart",
    http: 503,
    rpc: "UNAVAILABLE",
    details: "DRAINING",
    retryable: true,
  },
  "gateway-starting": {
    message: "gateway starting; retry shortly",
    http: 503,
    rpc: "UNAVAILABLE",
    retryable: true,
    expose: { reason: { type: "string" } },
  },
});
