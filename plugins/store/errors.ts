import { defineErrors } from "svc/sdk";

/** Codes of this plugin. The first twelve are failed conditions of a commit: nothing of that commit was stored. */
export const storeErrors = defineErrors({
  exists: { message: '{kind} "{key}" already exists', http: 409, rpc: "INVALID_REQUEST", details: "CONFLICT" },
  "session-changed": {
    message: 'session "{key}" now has another transcript: expected {expected}, found {found}; read the session again',
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
  "label-in-use": {
    message: 'session "{key}" of this agent already has the label "{label}"; choose another label',
    http: 409,
    rpc: "INVALID_REQUEST",
    details: "CONFLICT",
  },
  "kv-changed": {
    message: 'value "{key}" was changed by another writer: expected version {expected}, found {found}; read it again',
    http: 409,
    rpc: "INVALID_REQUEST",
    details: "CONFLICT",
  },
  "events-taken": {
    message: "{missing} of {count} system events were taken by another prompt; read the waiting ones again",
    http: 409,
    rpc: "INVALID_REQUEST",
    details: "CONFLICT",
  },
  "events-waiting": {
    message: 'system events are waiting for session "{key}"; it was not deleted',
    http: 409,
    rpc: "INVALID_REQUEST",
    details: "CONFLICT",
  },
  fenced: {
    message: "{what} has another owner by now; nothing of this commit was stored",
    http: 409,
    rpc: "INVALID_REQUEST",
    details: "CONFLICT",
  },
  "system-events-full": {
    message: "{count} system events are already waiting for {place}; the next prompts read 20 each; try again later",
    http: 503,
    rpc: "UNAVAILABLE",
    retryable: true,
  },
  "deliveries-full": {
    message: "{rows} deliveries with {bytes} bytes are already waiting; the limit is 2000 or 256 MiB; try again when some have finished",
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
    message: "state store: too many operations are waiting to be written ({queued}); try again in a moment",
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
    expose: { reason: { type: "string" } },
    retryable: true,
  },
  "store-too-new": {
    message:
      "state database {path} has schema version {found} and needs a version of svc that knows {needed}; this one knows up to {known} and left the file untouched; start the newer version, or restore a copy from before the migration: rm -f {path}-wal {path}-shm; mv {path} {path}.newer; cp {path}.pre-{known}-<time> {path}",
    http: 503,
    rpc: "UNAVAILABLE",
    exit: 78,
  },
  "store-migration-failed": {
    message:
      "state database {path}: the step to schema version {version} failed ({reason}) and was undone; fix the cause and start again, or return to the previous version with the copy made before the migration: rm -f {path}-wal {path}-shm; cp {copy} {path}",
    http: 503,
    rpc: "UNAVAILABLE",
    exit: 78,
  },
  "store-no-room": {
    message:
      "state database {path}: the copy before its migration needs {needed} MB, and {free} MB are free; free some space and start again; nothing was changed",
    http: 503,
    rpc: "UNAVAILABLE",
    exit: 78,
  },
  "repair-running": {
    message: "sessions repair: a gateway uses the database (pid {pid}); stop it first: svc gateway stop",
    http: 409,
    rpc: "INVALID_REQUEST",
    exit: 1,
  },
  "backup-target": {
    message: "backup to {dir}: {reason}; expected a folder that does not exist yet, outside the state directory",
    http: 400,
    rpc: "INVALID_REQUEST",
    exit: 1,
  },
  "backup-no-room": {
    message: "{folder}: {needed} MB are needed, and {free} MB are free; nothing was changed",
    http: 503,
    rpc: "UNAVAILABLE",
    exit: 1,
  },
  "backup-too-large": {
    message: "backup: there are more than {files} files, the last ones in {path}; move what is no part of the state out of that folder",
    http: 400,
    rpc: "INVALID_REQUEST",
    exit: 1,
  },
  "backup-database": {
    message: "state database {path}: {reason}; svc doctor says more, and a start of the gateway repairs a damaged one",
    http: 503,
    rpc: "UNAVAILABLE",
    exit: 1,
  },
  "backup-detached": {
    message:
      "the running gateway writes its state to {path}, because another file took the place of its database; choose one of them first: svc doctor",
    http: 409,
    rpc: "INVALID_REQUEST",
    exit: 1,
  },
  "backup-unreadable": {
    message: "{dir} is no backup that this program can read: {reason}; expected a folder that svc backup create has made",
    http: 400,
    rpc: "INVALID_REQUEST",
    exit: 1,
  },
  "backup-too-new": {
    message: "backup {dir} has {found}, made by svc {version}; this program knows {known}: restore it with that version or a newer one",
    http: 400,
    rpc: "INVALID_REQUEST",
    exit: 1,
  },
  "backup-damaged": {
    message: "backup {dir} is damaged in {count} places, the first {path}: {problem}; nothing was changed; use another backup",
    http: 400,
    rpc: "INVALID_REQUEST",
    exit: 1,
  },
  "restore-running": {
    message: "a gateway is running with this state directory (pid {pid}); stop it first; nothing was changed",
    http: 409,
    rpc: "INVALID_REQUEST",
    exit: 1,
  },
  "restore-occupied": {
    message: "{stateDir} is in use already ({found}); choose another SVC_STATE_DIR, or add --replace to set aside what is there",
    http: 409,
    rpc: "INVALID_REQUEST",
    exit: 1,
  },
  "restore-mount": {
    message: "{path} is a file system of its own and cannot be set aside; unmount it or move its contents away; nothing was changed",
    http: 409,
    rpc: "INVALID_REQUEST",
    exit: 1,
  },
  "store-native-missing": {
    message: "better-sqlite3 has no binary for this system ({reason}); run: npm rebuild better-sqlite3",
    http: 503,
    rpc: "UNAVAILABLE",
    exit: 78,
  },
  "store-not-embedded": {
    message:
      'svc {command}: store.backend is "{backend}", and this command for it is not part of this release; use the tools of the database, such as pg_dump -Fc -n svc',
    http: 409,
    rpc: "INVALID_REQUEST",
    exit: 1,
  },
  "store-backend-missing": {
    message:
      'store.backend is "{backend}", and the plugin "{plugin}" that serves it is not running; its own error says why; enable it, or install its packages: svc doctor',
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
