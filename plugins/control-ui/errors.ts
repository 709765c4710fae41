import { defineErrors } from "svc/sdk";

/** Codes of this plugin. */
export const errors = defineErrors({
  "ui-files-missing": {
    message: 'the control UI is not complete: "{file}" is missing; build it with: npm run build',
    http: 503,
    rpc: "UNAVAILABLE",
    retryable: true,
  },
  "panel-folder-too-large": {
    message:
      "{folder} holds more than {files} files or {bytes} bytes, so no panel of it is shown; keep there what panels load, and nothing else",
    http: 503,
    rpc: "UNAVAILABLE",
  },
});
