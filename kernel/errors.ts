import { defineErrors } from "../sdk/errors.ts";

/** Every code the kernel throws: template, HTTP status, protocol code, exit code. Codes are never reused. */
export const kernelErrors = defineErrors({
  // start
  "start-blocked": { message: "Gateway start blocked: set gateway.mode=local ({reason})", http: 500, rpc: "UNAVAILABLE", exit: 78 },
  "bind-without-auth": {
    message: "refusing to bind gateway to {host}:{port} without auth; set gateway.auth.token or use bind loopback",
    http: 500,
    rpc: "UNAVAILABLE",
    exit: 78,
  },
  "already-listening": {
    message: "another gateway instance is already listening on ws://{host}:{port}{holder}; stop it, use --force, or choose another --port",
    http: 500,
    rpc: "UNAVAILABLE",
    exit: 78,
  },
  "port-taken": {
    message: "another gateway instance is already listening on ws://{host}:{port}{holder}: EADDRINUSE; choose another --port",
    http: 500,
    rpc: "UNAVAILABLE",
    exit: 1,
  },
  "bind-failed": { message: "failed to bind gateway socket on ws://{host}:{port}: {reason}", http: 500, rpc: "UNAVAILABLE", exit: 1 },
  "required-plugin-failed": {
    message: 'plugin "{plugin}" is required (plugins.entries.{plugin}.required) but did not start: {reason}',
    http: 500,
    rpc: "UNAVAILABLE",
    exit: 78,
  },

  // handshake
  "invalid-connect": { message: "invalid connect params: {issues}", http: 400, rpc: "INVALID_REQUEST" },
  "first-not-connect": { message: "invalid handshake: first request must be connect", http: 400, rpc: "INVALID_REQUEST" },
  "protocol-mismatch": {
    message: "protocol mismatch",
    http: 400,
    rpc: "INVALID_REQUEST",
    details: "PROTOCOL_MISMATCH",
    expose: ["clientMinProtocol", "clientMaxProtocol", "expectedProtocol"],
  },
  "invalid-role": { message: "invalid role", http: 400, rpc: "INVALID_REQUEST" },
  "origin-not-allowed": {
    message: "origin not allowed: {advice}",
    http: 403,
    rpc: "INVALID_REQUEST",
    details: "CONTROL_UI_ORIGIN_NOT_ALLOWED",
    expose: ["reason"],
  },
  "device-required": { message: "device identity required", http: 401, rpc: "NOT_PAIRED", details: "DEVICE_IDENTITY_REQUIRED" },

  // requests
  unauthorized: {
    message: "unauthorized: {reason}",
    http: 401,
    rpc: "INVALID_REQUEST",
    expose: ["authReason", "canRetryWithDeviceToken", "recommendedNextStep"],
  },
  "rate-limited": {
    message: "unauthorized: too many failed authentication attempts (retry later)",
    http: 429,
    rpc: "INVALID_REQUEST",
    details: "AUTH_RATE_LIMITED",
    expose: ["authReason", "canRetryWithDeviceToken", "recommendedNextStep"],
    retryable: true,
  },
  "proxy-untrusted": {
    message: "forwarded headers from an address outside gateway.trustedProxies",
    http: 403,
    rpc: "FORBIDDEN",
    details: "proxy_attribution_required",
  },
  "missing-scope": {
    message: "missing scope: {missingScope}",
    http: 403,
    rpc: "FORBIDDEN",
    details: "MISSING_SCOPE",
    expose: ["missingScope", "requiredScopes"],
  },
  "unknown-method": { message: "unknown method: {method}", http: 404, rpc: "INVALID_REQUEST" },
  "unauthorized-role": { message: "unauthorized role: {role}", http: 403, rpc: "INVALID_REQUEST" },
  "invalid-frame": { message: "invalid request frame: {reason}", http: 400, rpc: "INVALID_REQUEST" },
  "already-connected": { message: "connect was already answered on this socket", http: 400, rpc: "INVALID_REQUEST" },
  blocked: { message: "{reason} (refused by plugin {plugin})", http: 403, rpc: "FORBIDDEN", details: "BLOCKED" },
  draining: {
    message: "the gateway is stopping; try again after the restart",
    http: 503,
    rpc: "UNAVAILABLE",
    details: "DRAINING",
    retryable: true,
  },
  "gateway-starting": { message: "gateway starting; retry shortly", http: 503, rpc: "UNAVAILABLE", retryable: true, expose: ["reason"] },

  // plugins
  "undeclared-contribution": {
    message: 'plugin "{plugin}": {kind} "{id}" is not listed in contributes.{kind} of svc.plugin.json; add it there',
    http: 500,
    rpc: "UNAVAILABLE",
  },
  "contribution-conflict": {
    message: '{point} "{id}" of plugin "{plugin}" is taken by plugin "{owner}"; rename one of them',
    http: 500,
    rpc: "UNAVAILABLE",
  },
  "permission-missing": {
    message:
      'plugin "{plugin}": {what} needs the permission {permission}; list it in svc.plugin.json and in plugins.entries.{plugin}.grants',
    http: 500,
    rpc: "UNAVAILABLE",
  },
  "reserved-name": { message: 'plugin "{plugin}": the name "{name}" is reserved for {owner}', http: 500, rpc: "UNAVAILABLE" },
  "route-conflict": { message: 'plugin "{plugin}": route {path} overlaps that of plugin "{owner}"', http: 500, rpc: "UNAVAILABLE" },
  "hook-failed": { message: 'hook {hook}: plugin "{plugin}" {reason}', http: 500, rpc: "UNAVAILABLE" },
  "plugin-timeout": {
    message: 'plugin "{plugin}": {phase} did not finish within {seconds} s; see svc plugins list',
    http: 500,
    rpc: "UNAVAILABLE",
  },
});
