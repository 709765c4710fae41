import { methodSpec, z } from "svc/sdk";

const server = z.string().regex(/^[a-z][a-z0-9_-]{0,31}$/, "expected the name of an MCP server of the config");

/** Methods of the protocol that this plugin serves. */
export const mcpMethods = {
  "mcp.status": methodSpec("read", "MCP servers of the config, their state and their tools", z.strictObject({})),
  "mcp.reconnect": methodSpec(
    "admin",
    "ends the connection to an MCP server and makes it anew; a program is started anew",
    z.strictObject({ server }),
  ),
  "mcp.login.start": methodSpec(
    "admin",
    "asks an MCP server where a person has to log in (OAuth)",
    z.strictObject({
      server,
      redirectUrl: z
        .string()
        .max(500)
        .regex(/^http:\/\/(127\.0\.0\.1|\[::1\]|localhost):\d{1,5}\/[\w/-]*$/, "expected an http address of the loopback interface"),
    }),
  ),
  "mcp.login.finish": methodSpec(
    "admin",
    "hands over what the authorization server sent the person back with: the query of that address",
    z.strictObject({ server, query: z.string().min(1).max(8_192) }),
  ),
  "mcp.logout": methodSpec("admin", "forgets the login at an MCP server", z.strictObject({ server })),
  "mcp.revoke": methodSpec(
    "admin",
    "takes back the approvals that were given for always to tools of an MCP server",
    z.strictObject({ server }),
  ),
} as const;
