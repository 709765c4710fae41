import { defineErrors } from "../errors.ts";

/** Codes of the loader that reach a caller. */
export const loaderErrors = defineErrors({
  "kv-limit": {
    message: 'plugin "{plugin}": {what}; keep larger or more values in a file below ctx.stateDir',
    http: 400,
    rpc: "INVALID_REQUEST",
  },
  "plugin-not-installed": { message: "plugin not installed: {id}", http: 404, rpc: "INVALID_REQUEST", exit: 1 },
  "plugin-not-loadable": { message: "no plugin to load at {path}: {reason}", http: 400, rpc: "INVALID_REQUEST", exit: 1 },
  "plugin-timeout": {
    message: 'plugin "{plugin}": {phase} did not finish within {seconds} s; see svc plugins list',
    http: 500,
    rpc: "UNAVAILABLE",
  },
});
