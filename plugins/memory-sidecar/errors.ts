import { defineErrors } from "svc/sdk";

/** Codes of the sidecar. */
export const sidecarErrors = defineErrors({
  "sidecar-busy": {
    message: "the memory engine has {waiting} searches waiting; try again shortly",
    http: 503,
    rpc: "UNAVAILABLE",
    retryable: true,
    exit: 1,
  },
  "sidecar-closed": {
    message: "the memory sidecar is closed; memory.backend is another one, or the gateway stops",
    http: 503,
    rpc: "UNAVAILABLE",
    exit: 1,
  },
  "sidecar-path-refused": {
    message: '"{path}" is no note of this memory; expected the path of a hit: MEMORY.md, a file below memory/ or sidecar/<collection>/',
    http: 400,
    rpc: "INVALID_REQUEST",
    exit: 1,
  },
});
