import { defineErrors } from "svc/sdk";

/** Codes of the command `svc mcp`. */
export const mcpCliErrors = defineErrors({
  "mcp-unreachable": { message: "svc mcp cannot hand messages on to this gateway: {reason}", http: 503, rpc: "UNAVAILABLE", exit: 1 },
});
