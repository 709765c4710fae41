import { defineErrors } from "../errors.ts";

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
