import { defineErrors } from "svc/sdk";

/** Codes of this plugin. */
export const errors = defineErrors({
  "ui-files-missing": {
    message: 'the control UI is not complete: "{file}" is missing; build it with: npm run build',
    http: 503,
    rpc: "UNAVAILABLE",
    retryable: true,
  },
});
