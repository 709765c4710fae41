import { defineErrors } from "../sdk/errors.ts";

/** Every code the kernel throws: template, HTTP status, protocol code, exit code. Codes are never reused. */
export const kernelErrors = defineErrors({
  // start
  "start-blocked": { message: "Gateway start blocked: set gateway.mode=local ({reason})", http: 500, rpc: "UNAVAILABLE", exit: 78 },
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
  "permission-missing": {
    message:
      'plugin "{plugin}": {what} needs the permission {permission}; list it in svc.plugin.json and in plugins.entries.{plugin}.grants',
    http: 500,
    rpc: "UNAVAILABLE",
  },
  "not-in-release": {
    message: 'plugin "{plugin}": {what} is not part of this release, and nothing would use it; remove the registration',
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
});
