import { defineErrors } from "svc/sdk";

/** Codes of this plugin: reasons to end a start. Those that every store has stand in the plugin `store`. */
export const databaseErrors = defineErrors({
  "schema-too-new": {
    message:
      "database {endpoint}: the schema {schema} has version {found} and needs a version of svc that knows {needed}; this one knows up to {known} and changed nothing; start the newer version",
    http: 503,
    rpc: "UNAVAILABLE",
    exit: 78,
  },
  "schema-migration-failed": {
    message: "database {endpoint}: the step to schema version {version} failed ({reason}) and was undone; fix the cause and start again",
    http: 503,
    rpc: "UNAVAILABLE",
    exit: 78,
  },
  "database-unsuitable": {
    message: "database {endpoint}: {reason}",
    http: 503,
    rpc: "UNAVAILABLE",
    exit: 78,
  },
  "database-unusable": {
    message: "database {endpoint} cannot be used ({reason}); check that the server runs, store.postgres.url, and the rights of its role",
    http: 503,
    rpc: "UNAVAILABLE",
    exit: 1,
  },
});
