import { defineErrors } from "svc/sdk";

/** Errors of an installation. Nothing is left behind, and an older version stays in place. */
export const installErrors = defineErrors({
  "plugin-source-invalid": { message: "{spec}: {reason}", http: 400, rpc: "INVALID_REQUEST", exit: 2 },
  "archive-refused": { message: "{archive}: {reason}; nothing was installed", http: 400, rpc: "INVALID_REQUEST", exit: 1 },
  "plugin-refused": { message: "{spec}: {code}: {reason}; {hint}", http: 400, rpc: "INVALID_REQUEST", exit: 1 },
  "plugin-lockfile-missing": {
    message:
      "{spec}: its package.json lists dependencies, but {reason}; ask its author for a package with package-lock.json or npm-shrinkwrap.json",
    http: 400,
    rpc: "INVALID_REQUEST",
    exit: 1,
  },
  "plugin-shadows-bundled": {
    message: 'plugin "{plugin}" is part of svc; to use this one in its place add --replace-bundled',
    http: 409,
    rpc: "INVALID_REQUEST",
    exit: 1,
  },
  "plugin-not-recorded": {
    message: 'plugin "{plugin}" was not installed by svc plugins install; {hint}',
    http: 404,
    rpc: "INVALID_REQUEST",
    exit: 1,
  },
  "npm-failed": { message: "npm {command}: {reason}", http: 502, rpc: "UNAVAILABLE", exit: 1 },
  "packages-not-installed": {
    message: "{plugin}: its packages were not installed, and nothing was changed: {reason}; {advice}",
    http: 502,
    rpc: "UNAVAILABLE",
    exit: 1,
  },
  "install-locked": {
    message: "another svc plugins command is running (pid {pid}); wait for it to finish",
    http: 409,
    rpc: "UNAVAILABLE",
    exit: 1,
    retryable: true,
  },
});
