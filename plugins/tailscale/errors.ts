import { defineErrors } from "svc/sdk";

/** Codes of publishing the port through Tailscale. */
export const tailscaleErrors = defineErrors({
  "tailscale-failed": {
    message:
      'gateway.tailscale.mode is "{mode}", and the port could not be published: {reason}; {advice}, or set gateway.tailscale.mode to off',
    http: 500,
    rpc: "UNAVAILABLE",
    exit: 1,
  },
});
