import { defineErrors } from "svc/sdk";

/** Codes of this part. `deliveries-full`, `delivery-state`, `system-events-full` and `storage-*` are the store's, `draining` is the kernel's. */
export const deliveryErrors = defineErrors({
  "hook-action-too-large": {
    message: "payload too large: the action is {bytes} bytes of JSON after mapping, expected at most {maxBytes}; send less",
    http: 413,
    rpc: "INVALID_REQUEST",
    expose: { maxBytes: { type: "integer" } },
  },
});
