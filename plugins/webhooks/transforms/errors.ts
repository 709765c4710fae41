import { defineErrors } from "svc/sdk";

/** Codes of transforms. The texts are for the log: a caller is told nothing of them. */
export const transformErrors = defineErrors({
  "transform-failed": { message: "transform {reason}", http: 500, rpc: "UNAVAILABLE" },
  "transform-busy": {
    message: "transform {module}: too many calls in progress; try again",
    http: 503,
    rpc: "UNAVAILABLE",
    retryable: true,
  },
  "transform-resting": {
    message: "transform {module}: it crashed its process five times within a minute and is paused; see the preceding log lines",
    http: 503,
    rpc: "UNAVAILABLE",
    retryable: true,
  },
});
