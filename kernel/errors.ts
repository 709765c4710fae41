import { defineErrors } from "../sdk/errors.ts";

/** Every code the kernel throws: template, HTTP status, protocol code, exit code. Codes are never reused. */
export const kernelErrors = defineErrors({
  // start
  "start-blocked": { message: "Gateway start blocked: set gateway.mode=local ({reason})", http: 500, rpc: "UNAVAILABLE", exit: 78 },
  "replacement-unfinished": {
    message:
      "the restore of a backup was cut off and cannot be completed: {reason}; remove what is in its way and start again; {path} lists what is moved where",
    http: 500,
    rpc: "UNAVAILABLE",
    exit: 78,
  },
  "bind-without-auth": {
    message: "refusing to bind gateway to {host}:{port} without auth; {advice} or use bind loopback",
    http: 500,
    rpc: "UNAVAILABLE",
    exit: 78,
  },
  "already-listening": {
    message: "another gateway instance is already listening on ws://{host}:{port}{holder?}; stop it, use --force, or choose another --port",
    http: 500,
    rpc: "UNAVAILABLE",
    exit: 78,
  },
  "port-taken": {
    message: "port {port} is in use{holder?}: EADDRINUSE; stop that program or choose another --port",
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
  "invalid-registration": {
    message: 'plugin "{plugin}": {kind} does not match its type in svc/sdk: {issues}; it was not registered',
    http: 500,
    rpc: "UNAVAILABLE",
  },
  "panel-invalid": {
    message: 'panel "{panel}" of plugin "{plugin}" answered what cannot be drawn: {issues}',
    http: 500,
    rpc: "UNAVAILABLE",
    details: "PANEL_INVALID",
  },
  "panel-too-large": {
    message: 'panel "{panel}" of plugin "{plugin}" answered more than {limit} bytes; its plugin has to show less at once',
    http: 500,
    rpc: "UNAVAILABLE",
    details: "PANEL_TOO_LARGE",
  },
  "panel-timeout": {
    message: 'panel "{panel}" of plugin "{plugin}" did not answer within {seconds} s',
    http: 504,
    rpc: "UNAVAILABLE",
    details: "PANEL_TIMEOUT",
  },
  "panel-failed": {
    message: 'panel "{panel}" of plugin "{plugin}" failed: {reason}',
    http: 500,
    rpc: "UNAVAILABLE",
    details: "PANEL_FAILED",
  },
  "too-many-panels": {
    message: 'plugin "{plugin}": panel "{panel}" is one more than the {limit} a plugin may have',
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
  "plugin-not-running": {
    message: '{subject}: plugin "{plugin}" is not running: {reason}',
    http: 503,
    rpc: "UNAVAILABLE",
    details: "PLUGIN_NOT_RUNNING",
    expose: { plugin: { type: "string" } },
  },
  "invalid-request": { message: "request: {problem}", http: 500, rpc: "UNAVAILABLE" },
  "request-failed": { message: "{origin}: the connection failed: {reason}{via?}", http: 502, rpc: "UNAVAILABLE", retryable: true },
  "proxy-failed": { message: "the proxy {proxy} {problem}; check {variable}", http: 502, rpc: "UNAVAILABLE", retryable: true },
  "response-timeout": { message: "{origin}: no answer within {seconds} s{via?}", http: 504, rpc: "UNAVAILABLE", retryable: true },
  "too-many-requests-waiting": {
    message: "{origin}: {limit} requests are waiting or {origins} servers are in use already; wait for some of them",
    http: 503,
    rpc: "UNAVAILABLE",
    retryable: true,
  },
  "route-conflict": { message: 'plugin "{plugin}": route {path} overlaps that of plugin "{owner}"', http: 500, rpc: "UNAVAILABLE" },

  // life of a plugin
  "plugin-not-loadable": { message: "no plugin to load at {path}: {reason}", http: 400, rpc: "INVALID_REQUEST", exit: 1 },
  "plugin-timeout": {
    message: 'plugin "{plugin}": {phase} did not finish within {seconds} s; see svc plugins list',
    http: 500,
    rpc: "UNAVAILABLE",
  },
  "hook-failed": { message: 'hook {hook}: plugin "{plugin}" {reason}', http: 500, rpc: "UNAVAILABLE" },
  "hook-filter": {
    message: 'hook {hook}: plugin "{plugin}" filters by {key}, which its events do not carry; expected {expected}',
    http: 500,
    rpc: "UNAVAILABLE",
  },
});

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
  "gateway-starting": {
    message: "gateway starting; retry shortly",
    http: 503,
    rpc: "UNAVAILABLE",
    retryable: true,
    expose: { reason: { type: "string" } },
  },
  "write-rate-limited": {
    message: "rate limit exceeded for {method}; retry after {seconds}s",
    http: 429,
    rpc: "UNAVAILABLE",
    details: "RATE_LIMITED",
    expose: { method: { type: "string" }, limit: { type: "string" } },
    retryable: true,
    exit: 1,
  },
});
