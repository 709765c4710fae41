import { defineErrors } from "svc/sdk";

/** Errors of the local runtime. */
export const runtimeErrors = defineErrors({
  "local-runtime-missing": {
    message: 'the runtime of local models: its package "{name}" {problem}; run: svc models runtime install',
    http: 503,
    rpc: "UNAVAILABLE",
    exit: 1,
  },
  "model-not-downloaded": {
    message: "the model {name} was not downloaded: {reason}",
    http: 502,
    rpc: "UNAVAILABLE",
    exit: 1,
  },
});
