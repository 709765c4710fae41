import { defineErrors } from "svc/sdk";

/** Codes of this plugin. A model reads the message of a call that failed, so it says what to do. */
export const mcpErrors = defineErrors({
  "mcp-unknown-server": {
    message: 'there is no MCP server "{server}"; those of the config are: {known}',
    http: 400,
    rpc: "INVALID_REQUEST",
  },
  "mcp-unavailable": {
    message: 'the MCP server "{server}" is not available: {reason}; go on without it, or try again later',
    http: 503,
    rpc: "UNAVAILABLE",
    retryable: true,
  },
  "mcp-call-lost": {
    message:
      'the connection to the MCP server "{server}" ended during the call of {tool}; nobody knows whether it took effect, so it was not repeated: look before you call it again',
    http: 502,
    rpc: "UNAVAILABLE",
  },
  "mcp-timeout": { message: 'the MCP server "{server}" did not answer {tool} within {seconds} s', http: 504, rpc: "UNAVAILABLE" },
  "mcp-not-approved": {
    message: "the call of {tool} was not approved: {reason}; do not try to get around it",
    http: 403,
    rpc: "FORBIDDEN",
  },
  "mcp-rights": {
    message: 'the MCP server "{server}" refused {tool}: it wants more rights than the login has ({scope}); {advice}',
    http: 403,
    rpc: "FORBIDDEN",
  },
  "mcp-no-login": { message: 'the MCP server "{server}" takes no login: {reason}', http: 400, rpc: "INVALID_REQUEST" },
  "mcp-login-failed": {
    message: 'the login at the MCP server "{server}" failed: {reason}; begin again with svc mcp login',
    http: 400,
    rpc: "INVALID_REQUEST",
  },
});
