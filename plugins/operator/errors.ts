import { defineErrors } from "svc/sdk";

/** Codes of the commands that show and change the config. */
export const operatorErrors = defineErrors({
  "config-unset": { message: "{path} is not set; {note}", http: 404, rpc: "INVALID_REQUEST", exit: 1 },
  "config-not-valid": { message: "{file} is not valid", http: 400, rpc: "INVALID_REQUEST", exit: 1 },
});
