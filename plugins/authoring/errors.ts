import { defineErrors } from "svc/sdk";

export const errors = defineErrors({
  "config-schema-drift": {
    message: 'plugin "{plugin}": configSchema in its manifest differs from its code',
    http: 409,
    rpc: "INVALID_REQUEST",
    exit: 1,
  },
  "protocol-drift": {
    message: 'plugin "{plugin}": svc.protocol.json differs from its code',
    http: 409,
    rpc: "INVALID_REQUEST",
    exit: 1,
  },
  "not-a-plugin-folder": {
    message: "{folder}: no svc.plugin.json there; expected a plugin folder; create one with: svc plugins create <id>",
    http: 404,
    rpc: "INVALID_REQUEST",
    exit: 1,
  },
  "package-unreadable": {
    message: "{path} cannot be read: {reason}; expected the package.json of a folder",
    http: 400,
    rpc: "INVALID_REQUEST",
    exit: 1,
  },
  "folder-not-empty": {
    message: "{folder} is not empty; choose another folder with --dir, or empty this one",
    http: 409,
    rpc: "INVALID_REQUEST",
    exit: 1,
  },
});
