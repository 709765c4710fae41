import { defineErrors } from "svc/sdk";

/** Codes of this plugin. The first seven are failed conditions of a commit: nothing of that commit was stored. */
export const storeErrors = defineErrors({
  exists: { message: '{kind} "{key}" already exists', http: 409, rpc: "INVALID_REQUEST", details: "CONFLICT" },
  "session-changed": {
    message: 'session "{key}" has another transcript now: expected {expected}, found {found}; read the session again',
    http: 409,
    rpc: "INVALID_REQUEST",
    details: "CONFLICT",
  },
  "session-missing": { message: 'session "{key}" does not exist', http: 404, rpc: "INVALID_REQUEST", details: "SESSION_MISSING" },
  "run-state": {
    message: 'run "{key}" is {found}; expected {expected}',
    http: 409,
    rpc: "INVALID_REQUEST",
    details: "CONFLICT",
  },
  "system-events-full": {
    message: "{count} system events wait for {place} already; they are read 20 at a time with the next prompts, try again later",
    http: 503,
    rpc: "UNAVAILABLE",
    retryable: true,
  },
  "deliveries-full": {
    message: "{rows} deliveries with {bytes} bytes wait already; at most 2000 or 256 MiB are taken on, try again when some are done",
    http: 503,
    rpc: "UNAVAILABLE",
    details: "DELIVERIES_FULL",
    retryable: true,
  },
  "delivery-state": {
    message: 'delivery "{key}" is {found}; expected {expected}',
    http: 409,
    rpc: "INVALID_REQUEST",
    details: "CONFLICT",
  },
  "store-invalid-op": { message: "state store: {reason}; nothing of this commit was stored", http: 500, rpc: "INVALID_REQUEST" },
  "storage-busy": {
    message: "state store: too much is waiting to be written ({queued} operations); try again in a moment",
    http: 503,
    rpc: "UNAVAILABLE",
    details: "STORAGE_BUSY",
    retryable: true,
  },
  "storage-unavailable": {
    message: "state store: {advice}",
    http: 503,
    rpc: "UNAVAILABLE",
    details: "STORAGE_UNAVAILABLE",
    expose: ["reason"],
    retryable: true,
  },
  "store-too-new": {
    message:
      "state database {path} has schema version {found} and needs a program that knows version {needed}; this one knows up to {known}, and left the file untouched; start the newer program, or put back a copy from before the migration: rm -f {path}-wal {path}-shm; mv {path} {path}.newer; cp {path}.pre-{known}-<time> {path}",
    http: 503,
    rpc: "UNAVAILABLE",
    exit: 78,
  },
  "store-migration-failed": {
    message:
      "state database {path}: the step to schema version {version} failed ({reason}) and was undone; fix the cause and start again, or go back to the program before it with the copy of that time: rm -f {path}-wal {path}-shm; cp {copy} {path}",
    http: 503,
    rpc: "UNAVAILABLE",
    exit: 78,
  },
  "store-native-missing": {
    message: "better-sqlite3 has no binary for this system ({reason}); run: npm rebuild better-sqlite3",
    http: 503,
    rpc: "UNAVAILABLE",
    exit: 78,
  },
  "store-open-failed": {
    message: "state database {path} cannot be opened ({reason}); check that the folder exists and is writable",
    http: 503,
    rpc: "UNAVAILABLE",
    exit: 1,
  },
});
