import { defineErrors } from "../../sdk/errors.ts";

/** Codes of looking up and writing config. */
export const configErrors = defineErrors({
  "config-path-unknown": {
    message: "config schema path not found",
    http: 404,
    rpc: "INVALID_REQUEST",
    expose: { path: { type: "string" } },
    exit: 1,
  },
  "config-hash-required": {
    message: "config base hash required; re-run config.get and retry with baseHash",
    http: 409,
    rpc: "INVALID_REQUEST",
    exit: 1,
  },
  "config-conflict": {
    message: "config changed since last load; re-run config.get and retry",
    http: 409,
    rpc: "INVALID_REQUEST",
    details: "CONFLICT",
    expose: { currentHash: { type: ["string", "null"] } },
    exit: 1,
  },
  "config-parse": { message: "{file}:{line}:{column}  {reason}; nothing was written", http: 400, rpc: "INVALID_REQUEST", exit: 1 },
  "config-rejected": {
    message: "invalid config: {problem}",
    http: 400,
    rpc: "INVALID_REQUEST",
    expose: {
      issues: {
        type: "array",
        items: { type: "object", properties: { path: { type: "string" }, message: { type: "string" } }, required: ["path", "message"] },
      },
    },
    exit: 1,
  },
  "config-placeholder": {
    message: "{path}: holds the redaction placeholder but no value is stored there; write the real value",
    http: 400,
    rpc: "INVALID_REQUEST",
    expose: { path: { type: "string" } },
    exit: 1,
  },
  "config-clobber": {
    message: "{file}: refusing to write, {reason}; if that is intended, {advice}",
    http: 400,
    rpc: "INVALID_REQUEST",
    details: "DESTRUCTIVE",
    exit: 1,
  },
  "config-owned-elsewhere": { message: "{path}: {reason}; edit {owner} by hand", http: 400, rpc: "INVALID_REQUEST", exit: 1 },
  "config-readonly": {
    message: "{file}: SVC_CONFIG_READONLY=1 forbids every config write; unset it and try again",
    http: 403,
    rpc: "UNAVAILABLE",
    exit: 1,
  },
  "config-locked": {
    message:
      "{file}: another process (pid {pid}) has held {lock} for more than {seconds} s; wait for it, or remove the lock if that process is gone",
    http: 503,
    rpc: "UNAVAILABLE",
    retryable: true,
    exit: 1,
  },
  "config-write-failed": { message: "{file}: {reason}; {state}", http: 500, rpc: "UNAVAILABLE", exit: 1 },
  "config-no-last-good": { message: "{file}: cannot be restored from {lastGood}, {reason}", http: 400, rpc: "INVALID_REQUEST", exit: 1 },
});
