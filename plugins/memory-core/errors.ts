import { defineErrors } from "svc/sdk";

/** Errors of the memory plugin. */
export const memoryErrors = defineErrors({
  "invalid-query": { message: "query must be a non-empty string", http: 400, rpc: "INVALID_REQUEST", exit: 1 },
  "memory-disabled": {
    message: 'memory search is off for agent "{agentId}"; set agents.defaults.memorySearch.enabled to true',
    http: 503,
    rpc: "UNAVAILABLE",
    exit: 1,
  },
  "memory-note-path": {
    message: '"{path}" is no note; expected MEMORY.md or a Markdown file below memory/, such as memory/people.md',
    http: 400,
    rpc: "INVALID_REQUEST",
    exit: 1,
  },
  "memory-note-unusable": { message: "{path}: {reason}", http: 409, rpc: "INVALID_REQUEST", exit: 1 },
  "memory-note-conflict": {
    message: "{path} changed since it was read; read it again and retry",
    http: 409,
    rpc: "INVALID_REQUEST",
    exit: 1,
    expose: { type: { type: "string" }, currentHash: { type: ["string", "null"] } },
  },
  "embedding-provider-missing": { message: "no embedding provider is configured", http: 400, rpc: "UNAVAILABLE", exit: 1 },
  "embedding-provider-unknown": {
    message: 'no plugin offers the embedding adapter "{provider}"; enable it, see svc plugins list',
    http: 400,
    rpc: "INVALID_REQUEST",
    exit: 2,
  },
  "embedding-provider-not-ready": {
    message: 'embedding adapter "{provider}": {reason}',
    http: 502,
    rpc: "UNAVAILABLE",
    exit: 1,
  },
  "embedding-text-too-long": {
    message: "text {index} is longer than the {limit} tokens that {model} takes; embed it in parts",
    http: 400,
    rpc: "INVALID_REQUEST",
  },
  "embedding-provider-not-allowed": {
    message: "this agent does not allow that embedding provider; expected the provider of its memory search",
    http: 400,
    rpc: "INVALID_REQUEST",
    exit: 1,
  },
  "memory-store-shared": {
    message: 'agents {agents} share the memory index {path}; put "{token}" into memorySearch.store.path',
    http: 503,
    rpc: "UNAVAILABLE",
    exit: 1,
  },
  "memory-backend-cannot": {
    message: 'the memory backend "{backend}" cannot {what}',
    http: 400,
    rpc: "INVALID_REQUEST",
    exit: 1,
  },
  "memory-index-failed": { message: "memory index {path}: {reason}", http: 500, rpc: "UNAVAILABLE", exit: 1 },
  "memory-index-unusable": { message: "memory index {path} cannot be used: {reason}", http: 500, rpc: "UNAVAILABLE", exit: 1 },
  "memory-index-locked": {
    message: "memory index {path} is being rebuilt by process {pid}; wait for it or stop it",
    http: 503,
    rpc: "UNAVAILABLE",
    exit: 1,
    retryable: true,
  },
  "memory-dimension-mismatch": {
    message:
      "memory index {path}: a vector of length {got} among vectors of length {expected}; rebuild the index with: svc memory index --force",
    http: 500,
    rpc: "UNAVAILABLE",
    exit: 1,
  },
  "memory-sync-aborted": { message: "the memory sync was stopped", http: 503, rpc: "UNAVAILABLE", exit: 1, retryable: true },
  "memory-timed-out": {
    message: "memory {method}: no answer within {timeoutMs} ms; see svc memory status",
    http: 504,
    rpc: "UNAVAILABLE",
    exit: 1,
    retryable: true,
  },
  "memory-busy": {
    message: "the memory index has {pending} requests waiting; try again shortly",
    http: 503,
    rpc: "UNAVAILABLE",
    exit: 1,
    retryable: true,
  },
  "memory-worker-down": {
    message: 'the memory index of agent "{agentId}" is not running: {reason}; it restarts in {retryMs} ms',
    http: 503,
    rpc: "UNAVAILABLE",
    exit: 1,
    retryable: true,
  },
  "dream-locked": {
    message:
      "{path} is held by process {pid}; wait until its sweep is over; svc memory status --fix removes the lock of a process that is gone",
    http: 503,
    rpc: "UNAVAILABLE",
    exit: 1,
    retryable: true,
  },
  "dream-state-broken": {
    message: "{path}: expected a JSON object; svc memory status --fix puts it aside and begins a new one",
    http: 500,
    rpc: "UNAVAILABLE",
    exit: 1,
  },
  "dream-selector": {
    message:
      'nothing in the short-term memory matches "{selector}"; expected a key, a path or words of a statement, as svc memory promote lists them',
    http: 404,
    rpc: "INVALID_REQUEST",
    exit: 1,
  },
  "dream-notes-missing": {
    message: "{path}: no daily notes there; expected a note YYYY-MM-DD.md or a folder with some, below the workspace of the agent",
    http: 404,
    rpc: "INVALID_REQUEST",
    exit: 1,
  },
});
