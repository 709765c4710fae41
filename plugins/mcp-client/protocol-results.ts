import { z } from "svc/sdk";

const ok = z.literal(true);

/** Answers about MCP servers. */
export const mcpResults = {
  "mcp.status": z.object({
    servers: z.array(
      z.object({
        name: z.string(),
        transport: z.enum(["stdio", "http"]),
        state: z
          .enum(["connecting", "ready", "waiting", "login", "closed", "misconfigured"])
          .describe("`waiting`: it failed and is tried again; `login`: a person has to log in first"),
        problem: z.string().exactOptional(),
        loggedIn: z.boolean().exactOptional().describe("is a login kept for this address; absent for programs"),
        tools: z.array(z.string()).describe("names by which agents know them"),
      }),
    ),
  }),
  "mcp.reconnect": z.object({ ok }),
  "mcp.login.start": z.object({
    ok,
    authorizationUrl: z.string().exactOptional().describe("address for the person to open; absent: the server asks for no login"),
  }),
  "mcp.login.finish": z.object({ ok }),
  "mcp.logout": z.object({ ok, removed: z.boolean() }),
  "mcp.revoke": z.object({ ok, removed: z.number().int().min(0) }),
};
