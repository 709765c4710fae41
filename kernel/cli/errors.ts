import { defineErrors } from "../../sdk/errors.ts";

/** Codes of `--force`. */
export const forceErrors = defineErrors({
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
