import { defineErrors } from "svc/sdk";

/** Codes of this plugin; on the wire these two families tell them apart by `details.reason`. */
export const approvalErrors = defineErrors({
  "approval-not-found": {
    message: "unknown or expired approval id",
    http: 404,
    rpc: "INVALID_REQUEST",
    expose: { reason: { type: "string" } },
  },
  "approval-resolved": { message: "approval already resolved", http: 409, rpc: "INVALID_REQUEST", expose: { reason: { type: "string" } } },
  "approval-exists": { message: "approval id already in use; choose another, or omit it", http: 409, rpc: "INVALID_REQUEST" },
  "approval-decision": { message: "invalid decision", http: 400, rpc: "INVALID_REQUEST" },
});
