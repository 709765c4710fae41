import { defineErrors } from "../../sdk/errors.ts";

/** Codes of what the gateway and its commands both have to do with one installation. */
export const hostErrors = defineErrors({
  "lock-held": {
    message: "gateway already running (pid {pid}); lock timeout after {waitedMs}ms; stop it or use another SVC_STATE_DIR",
    http: 500,
    rpc: "UNAVAILABLE",
    exit: 78,
  },
  "config-lock-held": {
    message:
      "gateway already running with this config (pid {pid}, state directory {stateDir}): {configPath}; give each gateway a config file of its own (SVC_CONFIG_PATH)",
    http: 500,
    rpc: "UNAVAILABLE",
    exit: 78,
  },
  "lock-unusable": {
    message: "lock {path}: {reason}; expected a lock file of svc; remove it when no gateway is running with this state directory",
    http: 500,
    rpc: "UNAVAILABLE",
    exit: 78,
  },
  "tls-unusable": {
    message: "gateway.tls: {reason}; expected a certificate chain and its key, both PEM",
    http: 500,
    rpc: "UNAVAILABLE",
    exit: 78,
  },
  "invalid-profile": {
    message: 'profile "{profile}": expected lower-case letters, digits, _ or -, at most 64; "gateway" and "node" are reserved',
    http: 400,
    rpc: "INVALID_REQUEST",
    exit: 2,
  },
  "port-owner-unknown": {
    message: "port {port} is busy but its owner could not be identified; stop it by hand or choose another --port",
    http: 500,
    rpc: "UNAVAILABLE",
    exit: 1,
  },
  "port-owner-protected": {
    message: 'port {port} is held by "{command}" (pid {pid}), which --force does not end: {reason}',
    http: 500,
    rpc: "UNAVAILABLE",
    exit: 1,
  },
});

/** Codes of the record of installed plugins. */
export const installErrors = defineErrors({
  "invalid-plugin-id": {
    message: '"{plugin}" is not a plugin id; expected 2 to 48 lower-case letters, digits or -, starting with a letter',
    http: 400,
    rpc: "INVALID_REQUEST",
    exit: 2,
  },
  "install-index-invalid": {
    message: "{path}: the record of installed plugins cannot be read ({reason}); move it away and install the plugins again",
    http: 500,
    rpc: "UNAVAILABLE",
    exit: 1,
  },
});
