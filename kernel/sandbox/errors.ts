import { defineErrors } from "../../sdk/errors.ts";

/** Codes of code that runs apart from the gateway. */
export const sandboxErrors = defineErrors({
  "sandbox-failed": { message: "{name}: {reason}", http: 500, rpc: "UNAVAILABLE" },
  "sandbox-timeout": { message: "{name}: {what} did not finish within {limitMs} ms; it was ended", http: 500, rpc: "UNAVAILABLE" },
  "sandbox-crashed": { message: "{name}: its {mode} exited during the call ({reason})", http: 500, rpc: "UNAVAILABLE" },
  "sandbox-unavailable": {
    message: "{name}: it crashed {crashes} times within a minute and is paused; try again later",
    http: 503,
    rpc: "UNAVAILABLE",
    retryable: true,
  },
  "sandbox-too-large": {
    message: "{name}: {what} is larger than {maxBytes} bytes of JSON; make it smaller",
    http: 413,
    rpc: "INVALID_REQUEST",
  },
  "sandbox-invalid-input": { message: "{name}: {reason}", http: 400, rpc: "INVALID_REQUEST" },
  "isolation-unsupported": {
    message:
      'plugin "{plugin}": {what} is not possible with isolation "{mode}"; expected a tool, a preset with transforms or an observe hook',
    http: 500,
    rpc: "UNAVAILABLE",
  },
});
