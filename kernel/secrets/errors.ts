import { defineErrors } from "../../sdk/errors.ts";

/** Codes of secrets that cannot be had. */
export const secretErrors = defineErrors({
  "secret-unresolved": {
    message: "{path}: {reason}; set it where the gateway is started, or change the config",
    http: 503,
    rpc: "UNAVAILABLE",
    exit: 78,
  },
  "secret-unavailable": {
    message: "{path}: set in the config, but has no value: {reason}; make it available, or remove it from the config",
    http: 503,
    rpc: "UNAVAILABLE",
    exit: 1,
  },
  "secrets-not-local": {
    message: "secrets.resolve: values are only available to commands on the gateway's own machine",
    http: 403,
    rpc: "FORBIDDEN",
    details: "NOT_LOCAL",
  },
  "secrets-reload-rejected": {
    message: "secrets reload rejected: {reason}; the current secrets stay in force",
    http: 503,
    rpc: "UNAVAILABLE",
    details: "SECRETS_RELOAD_REJECTED",
    exit: 1,
  },
});
