import { defineErrors } from "svc/sdk";

/** Errors of an import. Each of them is found before anything is changed. */
export const importErrors = defineErrors({
  "import-source-invalid": {
    message:
      "{dir}: {reason}; expected the folder of a gateway (a JSON5 config, agents/<id>/sessions) or a workspace (AGENTS.md, MEMORY.md)",
    http: 400,
    rpc: "INVALID_REQUEST",
    exit: 2,
  },
  "import-gateway-running": {
    message: "a gateway is running (pid {pid}); stop it and import again, or look at the plan with --dry-run; nothing was changed",
    http: 409,
    rpc: "INVALID_REQUEST",
    exit: 1,
  },
  "import-not-set-up": {
    message: "{file} {reason}; {advice}, then import again; nothing was changed",
    http: 400,
    rpc: "INVALID_REQUEST",
    exit: 1,
  },
  "import-agent-unknown": {
    message: 'agent "{agent}" is not configured here; expected one of {known}',
    http: 400,
    rpc: "INVALID_REQUEST",
    exit: 2,
  },
});
