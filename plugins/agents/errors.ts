import { defineErrors } from "svc/sdk";

/** Codes of this plugin. `draining` and `busy` are the kernel's, `exists` and `storage-*` the store's. */
export const agentErrors = defineErrors({
  "invalid-model": {
    message: 'unknown model "{model}"{hint}; svc gateway call models.list shows what there is',
    http: 400,
    rpc: "INVALID_REQUEST",
    details: "INVALID_MODEL",
    expose: ["model", "closest"],
  },
  "model-not-allowed": {
    message: "Model '{model}' is not allowed for agent '{agentId}'.",
    http: 400,
    rpc: "INVALID_REQUEST",
    details: "MODEL_NOT_ALLOWED",
    expose: ["model", "agentId"],
  },
  "client-tool-conflict": {
    message: 'invalid tool configuration: "{tool}" is the name of one of the agent\'s own tools',
    http: 400,
    rpc: "INVALID_REQUEST",
    details: "CLIENT_TOOL_CONFLICT",
    expose: ["tool"],
  },
  "message-required": { message: "message or attachment required", http: 400, rpc: "INVALID_REQUEST" },
  "invalid-attachment": { message: "attachment {index}: {reason}", http: 400, rpc: "INVALID_REQUEST" },
  "queue-mode-unsupported": {
    message: 'queueMode "{mode}" is not available in this release; use "followup" or "interrupt"',
    http: 400,
    rpc: "INVALID_REQUEST",
  },
  "unknown-session": { message: "No session found: {key}", http: 404, rpc: "INVALID_REQUEST" },
  "session-mismatch": {
    message: 'sessionId belongs to session "{actual}", but "{key}" was named; send only one of them',
    http: 400,
    rpc: "INVALID_REQUEST",
  },
  "session-replaced": {
    message: 'session "{key}" has a newer transcript than expectedSessionId; read it again and retry',
    http: 409,
    rpc: "INVALID_REQUEST",
    expose: ["reason"],
  },
  "main-session-delete": { message: "Cannot delete the main session ({key}).", http: 400, rpc: "INVALID_REQUEST" },
  "label-taken": { message: 'label "{label}" is already used by session "{key}"; choose another', http: 409, rpc: "INVALID_REQUEST" },
  "tool-not-found": { message: "Tool not available: {tool}", http: 404, rpc: "INVALID_REQUEST" },
  "invalid-tool-args": { message: "invalid {tool} arguments: {issues}", http: 400, rpc: "INVALID_REQUEST" },
  "tool-blocked": { message: "{tool} was blocked: {reason}", http: 403, rpc: "FORBIDDEN" },
  "run-failed": { message: "{message}", http: 502, rpc: "UNAVAILABLE" },
});
