import { defineErrors } from "../errors.ts";

/** Codes that the gateway and plugins of this repository both raise; those that one of them raises stand in its own table. */
export const sharedErrors = defineErrors({
  draining: {
    message: "the gateway is stopping; try again after the restart",
    http: 503,
    rpc: "UNAVAILABLE",
    details: "DRAINING",
    retryable: true,
  },
  "missing-scope": {
    message: "missing scope: {missingScope}",
    http: 403,
    rpc: "FORBIDDEN",
    details: "MISSING_SCOPE",
    expose: { missingScope: { type: "string" }, requiredScopes: { type: "array", items: { type: "string" } } },
  },
  "config-path-invalid": { message: 'config path "{path}": {reason}', http: 400, rpc: "INVALID_REQUEST", exit: 2 },
  "config-entries-lost": {
    message: "{path}: entries would be lost ({lost}); if that is intended, {advice}",
    http: 400,
    rpc: "INVALID_REQUEST",
    details: "DESTRUCTIVE",
    expose: { path: { type: "string" } },
    exit: 1,
  },
  "plugin-not-installed": { message: "plugin not installed: {id}", http: 404, rpc: "INVALID_REQUEST", exit: 1 },
  "kv-limit": {
    message: 'plugin "{plugin}": {what}; keep larger or more values in a file below ctx.stateDir',
    http: 400,
    rpc: "INVALID_REQUEST",
  },
  "unsafe-file": { message: "{path}: {reason}", http: 500, rpc: "UNAVAILABLE", exit: 1 },
});
