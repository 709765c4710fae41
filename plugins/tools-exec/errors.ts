import { defineErrors } from "svc/sdk";

/** Codes of commands and of the list of allowed ones. */
export const execErrors = defineErrors({
  "command-refused": { message: "the command was not run: {reason}", http: 403, rpc: "FORBIDDEN" },
  "command-invalid": { message: "{field}: {reason}", http: 400, rpc: "INVALID_REQUEST" },
  "allowed-commands-changed": {
    message: "the list of allowed commands changed since it was read; read it again (exec.approvals.get) and retry",
    http: 409,
    rpc: "INVALID_REQUEST",
  },
});
