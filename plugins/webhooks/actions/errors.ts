import { defineErrors } from "svc/sdk";

/** Errors of requests that lead to no action. The text of the first is the sender's answer; what stands in `reason` is for the log only. */
export const actionErrors = defineErrors({
  "hook-invalid": { message: "{message}", http: 400, rpc: "INVALID_REQUEST" },
  "hook-too-large": { message: "payload too large", http: 413, rpc: "INVALID_REQUEST" },
  "hook-mapping-failed": { message: "hook mapping failed", http: 500, rpc: "UNAVAILABLE" },
});
